#include "corpus/plan_samples.h"

#include <gtest/gtest.h>

#include <set>

#include "problem/example_device.h"
#include "program/legality.h"

namespace gemmsmith {
namespace {

constexpr Gemm kGemm{.shape = {64, 128, 256}}, kOther{.shape = {256, 64, 1024}};

PlanSampling Sampling(const char* proposer, int count) {
  return {
      .problems = {kGemm, kOther}, .device = H200(), .count = count, .make = [proposer](const SearchContext& context) {
        return MakeProposer(proposer, context);
      }};
}

// The plan in a kernel's first lines.
Plan PlanOf(const TextSample& sample) {
  const size_t begin = sample.source.find("// direct ") + 3;
  return *ParsePlan(std::string_view(sample.source).substr(begin, sample.source.find('\n', begin) - begin));
}

TEST(PlanSamples, AreOfDifferentPlansAndProblemsTakeTurns) {
  const Result<std::vector<TextSample>> samples = SamplePlanKernels(Sampling("random", 21));
  ASSERT_TRUE(samples.ok()) << samples.status().message();
  ASSERT_EQ(samples->size(), 21u);
  std::set<std::string> sources;
  for (size_t i = 0; i < samples->size(); ++i) {
    const TextSample& sample = (*samples)[i];
    EXPECT_EQ(sample.gemm, i % 2 == 0 ? kGemm : kOther);
    EXPECT_TRUE(sample.is_finished);
    EXPECT_TRUE(IsWorthTrying(PlanOf(sample), sample.gemm, H200()));
    sources.insert(sample.source);
  }
  EXPECT_EQ(sources.size(), 21u);
}

TEST(PlanSamples, OfARankingComeInItsOrder) {
  const std::vector<TextSample> few = *SamplePlanKernels(Sampling("ranked", 4)),
                                more = *SamplePlanKernels(Sampling("ranked", 40));
  for (size_t i = 0; i < few.size(); ++i) EXPECT_EQ(few[i], more[i]);
  EXPECT_NE(*SamplePlanKernels(Sampling("random", 4)), few);
}

TEST(PlanSamples, AProblemWithTooFewPlansIsNamed) {
  const Result<std::vector<TextSample>> samples = SamplePlanKernels(Sampling("ranked", 100000));
  EXPECT_EQ(samples.status().code(), StatusCode::kNotFound);
  EXPECT_NE(samples.status().message().find("gemm 64x128x256"), std::string::npos) << samples.status().message();
}

TEST(LegalFlatPlans, AreAllDifferentAndLegal) {
  const std::vector<Plan> plans = LegalFlatPlans(kGemm, H200());
  EXPECT_GT(plans.size(), 1000u);
  EXPECT_EQ(std::set<Plan>(plans.begin(), plans.end()).size(), plans.size());
  for (size_t i = 0; i < plans.size(); i += 97) EXPECT_TRUE(IsLegal(plans[i], kGemm, H200())) << Print(plans[i]);
}

}  // namespace
}  // namespace gemmsmith
