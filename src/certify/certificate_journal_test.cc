#include "certify/certificate_journal.h"

#include <gtest/gtest.h>

#include <fstream>
#include <limits>

#include "base/files.h"

namespace gemmsmith {
namespace {

Certificate Some(const std::string& plan) {
  Certificate certificate;
  certificate.problem = "gemm 64x64x64 tn f16 f32", certificate.plan = plan;
  certificate.device = "h200", certificate.harness = "gemmsmith 0.1.0 abc";
  certificate.seed = 7, certificate.outcome = "verified";
  certificate.max_abs_error = 0.1234567890123, certificate.baseline_max_abs_error = 0.25;
  return certificate;
}

class CertificateJournalTest : public testing::Test {
 protected:
  void SetUp() override {
    Result<TemporaryFolder> folder = TemporaryFolder::Create("journal");
    ASSERT_TRUE(folder.ok());
    folder_.emplace(*std::move(folder));
  }
  std::filesystem::path path() const { return folder_->path() / "certificates"; }
  void Write(const std::string& text) const { std::ofstream(path(), std::ios::binary) << text; }

 private:
  std::optional<TemporaryFolder> folder_;
};

TEST(Certificate, RoundTripsButForTabsAndLineEnds) {
  Certificate certificate = Some("direct");
  certificate.outcome = "wrong", certificate.reason = "got\tnan\nexpected 1";
  certificate.max_abs_error = std::numeric_limits<double>::infinity();
  certificate.memchecked = true;
  const Result<Certificate> parsed = ParseCertificate(Print(certificate));
  ASSERT_TRUE(parsed.ok()) << parsed.status().message();
  certificate.reason = "got nan expected 1";
  EXPECT_EQ(*parsed, certificate);
}

TEST_F(CertificateJournalTest, WhatWasAppendedIsThereAtTheNextOpening) {
  Result<CertificateJournal> journal = CertificateJournal::Open(path());
  ASSERT_TRUE(journal.ok());
  ASSERT_TRUE(journal->Append(Some("a")).ok());
  ASSERT_TRUE(journal->Append(Some("b")).ok());
  journal = CertificateJournal::Open(path());
  ASSERT_TRUE(journal.ok());
  EXPECT_TRUE(journal->Has(Some("a")) && journal->Has(Some("b")));
  EXPECT_FALSE(journal->Has(Some("c")));
}

TEST_F(CertificateJournalTest, AnotherSeedHarnessOrDeviceOrAWantedMemcheckIsNotDone) {
  Result<CertificateJournal> journal = CertificateJournal::Open(path());
  ASSERT_TRUE(journal.ok());
  ASSERT_TRUE(journal->Append(Some("a")).ok());
  Certificate seed = Some("a"), harness = Some("a"), device = Some("a"), memcheck = Some("a");
  seed.seed = 8, harness.harness += "x", device.device = "h100", memcheck.memchecked = true;
  for (const Certificate& other : {seed, harness, device, memcheck}) EXPECT_FALSE(journal->Has(other)) << Print(other);
}

TEST_F(CertificateJournalTest, CutOffAtAnyByteItKeepsTheLinesBeforeAndTakesMore) {
  const std::string text = Print(Some("a")) + "\n" + Print(Some("b")) + "\n";
  const size_t first = text.find('\n') + 1;
  for (size_t length = 0; length < text.size(); ++length) {
    Write(text.substr(0, length));
    Result<CertificateJournal> journal = CertificateJournal::Open(path());
    ASSERT_TRUE(journal.ok()) << length;
    ASSERT_EQ(journal->Has(Some("a")), length >= first) << length;
    ASSERT_FALSE(journal->Has(Some("b"))) << length;
    ASSERT_TRUE(journal->Append(Some("c")).ok());
    journal = CertificateJournal::Open(path());
    ASSERT_TRUE(journal.ok()) << length << ": " << journal.status().message();
    ASSERT_TRUE(journal->Has(Some("c"))) << length;
  }
}

TEST_F(CertificateJournalTest, AnotherFileIsNotTakenForAJournal) {
  Write("something else\n");
  EXPECT_EQ(CertificateJournal::Open(path()).status().code(), StatusCode::kDataLoss);
}

}  // namespace
}  // namespace gemmsmith
