#include "ship/proofs.h"

#include <gtest/gtest.h>

#include "base/files.h"
#include "outcome/outcome.h"
#include "ship/catalogue_lock.h"

namespace gemmsmith {
namespace {

const Gemm kFirst{{64, 64, 64}}, kSecond{{256, 512, 4096}};
const Plan kPlan = *ParsePlan("direct tile_m=32"), kOther = *ParsePlan("direct tile_m=16");

Entry EntryFor(const Gemm& gemm) {
  return {.gemm = gemm,
          .plan = kPlan,
          .date = "2026-11-22",
          .harness = "gemmsmith 0.1.0 abc",
          .times = {{"device", 1000, {990, 1010}, 1.5, {1.4, 1.6}}}};
}

Certificate CertificateOf(const Gemm& gemm, const Plan& plan, OutcomeKind outcome, bool memchecked = false) {
  Certificate certificate;
  certificate.problem = Print(gemm), certificate.plan = Print(plan), certificate.device = "h200";
  certificate.harness = "gemmsmith 0.1.0 abc", certificate.outcome = Name(outcome);
  certificate.memchecked = memchecked;
  return certificate;
}

class ProofsTest : public testing::Test {
 protected:
  void SetUp() override {
    Catalogue catalogue("h200");
    catalogue.Put(EntryFor(kFirst));
    catalogue.Put(EntryFor(kSecond));
    ASSERT_TRUE(WriteFileAtomic(path_, catalogue.Print()).ok());
  }
  Proof ProofOf(const Gemm& gemm) { return Catalogue::Read(path_)->Find(gemm)->proof; }

  const TemporaryFolder folder_ = *TemporaryFolder::Create("proofs");
  const std::filesystem::path path_ = folder_.path() / "h200.catalogue";
};

TEST_F(ProofsTest, AreRaisedByWhatPassedAndNeverLowered) {
  const std::vector<Certificate> certificates = {CertificateOf(kFirst, kPlan, OutcomeKind::kVerified, true),
                                                 CertificateOf(kSecond, kPlan, OutcomeKind::kVerified)};
  Result<ProofChanges> changes = ApplyCertificates(path_, certificates);
  ASSERT_TRUE(changes.ok()) << changes.status().message();
  EXPECT_EQ(changes->raised, 2);
  EXPECT_EQ(ProofOf(kFirst), Proof::kMemchecked);
  EXPECT_EQ(ProofOf(kSecond), Proof::kCertified);
  const std::string text = *ReadFile(path_);
  changes = ApplyCertificates(path_, std::vector{CertificateOf(kFirst, kPlan, OutcomeKind::kVerified)});
  EXPECT_EQ(changes->raised, 0);
  EXPECT_EQ(*ReadFile(path_), text);
}

TEST_F(ProofsTest, WhatWasRefusedIsWithdrawn) {
  const Result<ProofChanges> changes =
      ApplyCertificates(path_, std::vector{CertificateOf(kFirst, kPlan, OutcomeKind::kVerified),
                                           CertificateOf(kFirst, kPlan, OutcomeKind::kWrong)});
  ASSERT_TRUE(changes.ok());
  EXPECT_EQ(changes->withdrawn, 1);
  EXPECT_EQ(changes->raised, 0);
  EXPECT_EQ(Catalogue::Read(path_)->Find(kFirst), nullptr);
  EXPECT_NE(Catalogue::Read(path_)->Find(kSecond), nullptr);
}

TEST_F(ProofsTest, OfThoseThatPassedTheFurthestCountsInWhateverOrder) {
  const Certificate certified = CertificateOf(kFirst, kPlan, OutcomeKind::kVerified);
  const Certificate memchecked = CertificateOf(kFirst, kPlan, OutcomeKind::kVerified, true);
  ASSERT_TRUE(ApplyCertificates(path_, std::vector{memchecked, certified}).ok());
  EXPECT_EQ(ProofOf(kFirst), Proof::kMemchecked);
}

TEST_F(ProofsTest, WhatPassedAfterItWasRefusedStandsByThatAlone) {
  const Result<ProofChanges> changes =
      ApplyCertificates(path_, std::vector{CertificateOf(kFirst, kPlan, OutcomeKind::kVerified, true),
                                           CertificateOf(kFirst, kPlan, OutcomeKind::kWrong),
                                           CertificateOf(kFirst, kPlan, OutcomeKind::kVerified)});
  ASSERT_TRUE(changes.ok());
  EXPECT_EQ(changes->withdrawn, 0);
  EXPECT_EQ(ProofOf(kFirst), Proof::kCertified);
}

TEST_F(ProofsTest, WhatWasRefusedLosesWhatTheCatalogueSaysOfIt) {
  const Certificate memchecked = CertificateOf(kFirst, kPlan, OutcomeKind::kVerified, true);
  ASSERT_TRUE(ApplyCertificates(path_, std::vector{memchecked}).ok());
  const Result<ProofChanges> changes =
      ApplyCertificates(path_, std::vector{CertificateOf(kFirst, kPlan, OutcomeKind::kWrong),
                                           CertificateOf(kFirst, kPlan, OutcomeKind::kVerified)});
  ASSERT_TRUE(changes.ok());
  EXPECT_EQ(changes->lowered, 1);
  EXPECT_EQ(ProofOf(kFirst), Proof::kCertified);
}

TEST_F(ProofsTest, CountFromBeforeAParameterCame) {
  Certificate certificate = CertificateOf(kFirst, kPlan, OutcomeKind::kVerified);
  certificate.plan.resize(certificate.plan.rfind(' '));
  ASSERT_EQ(*ParsePlan(certificate.plan), kPlan);
  const Result<ProofChanges> changes = ApplyCertificates(path_, std::vector{certificate});
  ASSERT_TRUE(changes.ok()) << changes.status().message();
  EXPECT_EQ(changes->raised, 1);
  EXPECT_EQ(ProofOf(kFirst), Proof::kCertified);
  const std::vector<Certificate> both = {certificate, CertificateOf(kFirst, kPlan, OutcomeKind::kWrong)};
  EXPECT_EQ(ApplyCertificates(path_, both)->withdrawn, 1) << "of one kernel, in the words of two days";
}

TEST_F(ProofsTest, OfOtherPlansAndDevicesNothingFollows) {
  Certificate elsewhere = CertificateOf(kFirst, kPlan, OutcomeKind::kWrong);
  elsewhere.device = "h100";
  const Result<ProofChanges> changes =
      ApplyCertificates(path_, std::vector{elsewhere, CertificateOf(kFirst, kOther, OutcomeKind::kWrong)});
  ASSERT_TRUE(changes.ok());
  EXPECT_EQ(changes->raised + changes->withdrawn, 0);
  EXPECT_EQ(ProofOf(kFirst), Proof::kTested);
}

TEST_F(ProofsTest, WhereSomebodyElseWritesItNothingIsTouched) {
  const Result<FileLock> held = LockCatalogue(path_);
  ASSERT_TRUE(held.ok());
  EXPECT_FALSE(ApplyCertificates(path_, std::vector{CertificateOf(kFirst, kPlan, OutcomeKind::kVerified)}).ok());
  EXPECT_EQ(ProofOf(kFirst), Proof::kTested);
}

}  // namespace
}  // namespace gemmsmith
