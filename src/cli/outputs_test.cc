#include "cli/outputs.h"

#include <gtest/gtest.h>

#include "archive/archive.h"
#include "archive/example_trials.h"
#include "archive/segment.h"
#include "base/files.h"
#include "catalogue/catalogue.h"
#include "certify/certificate_journal.h"

namespace gemmsmith {
namespace {

TEST(CheckOutput, WhatTookAGpusTimeIsReplacedByNoAnswer) {
  const TemporaryFolder folder = *TemporaryFolder::Create("outputs_test");
  const std::filesystem::path catalogue = folder.path() / "c", record = folder.path() / "r",
                              journal = folder.path() / "j";
  ASSERT_TRUE(WriteFileAtomic(catalogue, Catalogue("h200").Print()).ok());
  ASSERT_TRUE(WriteFileAtomic(record, EncodeSegments({ExampleTrial(1)}).front()).ok());
  ASSERT_TRUE(WriteFileAtomic(journal, Print(Certificate()) + "\n").ok());
  for (const std::filesystem::path& path : {catalogue, record, journal})
    EXPECT_NE(CheckOutput(path).message().find("would be lost"), std::string::npos) << path;
  EXPECT_TRUE(CheckOutput(record, true).ok());
  for (const std::string& text : {ToJsonLine(ExampleTrial(1)), CsvHeader()}) {
    ASSERT_TRUE(WriteFileAtomic(record, text).ok());
    EXPECT_FALSE(CheckOutput(record).ok()) << text;
    EXPECT_TRUE(CheckOutput(record, true).ok());
  }
  EXPECT_FALSE(CheckOutput(catalogue, true).ok());
}

TEST(CheckOutput, FoldersAndArchivesAreRefusedAndAllElseIsNot) {
  const TemporaryFolder folder = *TemporaryFolder::Create("outputs_test");
  const std::filesystem::path archive = folder.path() / "a.db", text = folder.path() / "a.txt";
  ASSERT_TRUE(Archive::Open(archive).ok());
  ASSERT_TRUE(WriteFileAtomic(text, "SQLite").ok());
  EXPECT_EQ(CheckOutput(folder.path()).code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(CheckOutput(archive).code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(CheckOutput(folder.path() / std::string(300, 'a')).code(), StatusCode::kIoError);
  for (const std::filesystem::path& path :
       {text, folder.path() / "new/a.txt", std::filesystem::path("/dev/null"), std::filesystem::path()})
    EXPECT_TRUE(CheckOutput(path).ok()) << path;
}

}  // namespace
}  // namespace gemmsmith
