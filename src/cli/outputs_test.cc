#include "cli/outputs.h"

#include <gtest/gtest.h>

#include "archive/archive.h"
#include "base/files.h"

namespace gemmsmith {
namespace {

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
