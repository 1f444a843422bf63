// Searches where the cost model is wrong: live spaces whose times are the model's, off by a factor for each value of
// each axis and for each pair of values, as a device might differ from what the model knows.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/random.h"
#include "program/cost.h"
#include "search/proposers.h"
#include "search/synthetic_space.h"

namespace gemmsmith {
namespace {

constexpr double kOffByValue = 0.08, kOffByPair = 0.02;  // standard deviations of logarithms

class WrongLandscape {
 public:
  WrongLandscape(const Gemm& gemm, const Device& device, uint64_t seed)
      : gemm_(gemm), device_(device), seed_(seed), space_(RankedPlans(gemm, device, kLiveSpaceSize)) {
    for (const Plan& plan : space_.plans()) times_.push_back(TimeNs(plan));
    best_ns_ = std::ranges::min(times_);
  }

  // The time of the fastest plan over that of the fastest one proposed, each proposal told before the next.
  double Found(std::string_view proposer_name, int proposals) const {
    const auto proposer =
        *MakeProposer(proposer_name, {.gemm = gemm_, .device = device_, .space = &space_, .seed = seed_});
    double found_ns = std::numeric_limits<double>::infinity();
    for (int i = 0; i < proposals; ++i)
      for (const Plan& plan : proposer->Propose(1)) {
        const double time_ns = times_[*space_.IndexOf(plan)];
        proposer->Observe(plan, MeasuredOutcome(time_ns));
        found_ns = std::min(found_ns, time_ns);
      }
    return best_ns_ / found_ns;
  }

 private:
  double TimeNs(const Plan& plan) const {
    double log = std::log(PredictTimeNs(plan, gemm_, device_));
    for (size_t i = 0; i < plan.values.size(); ++i) {
      log += kOffByValue * Normal(plan, i, i);
      for (size_t j = 0; j < i; ++j) log += kOffByPair * Normal(plan, i, j);
    }
    return std::exp(log);
  }
  // The same for the same values.
  double Normal(const Plan& plan, size_t i, size_t j) const {
    return Random(seed_)
        .Fork(fmt::format("{} {}={} {}={}", int(plan.family), i, plan.values[i], j, plan.values[j]))
        .Normal();
  }

  const Gemm gemm_;
  const Device device_;
  const uint64_t seed_;
  const Space space_;
  std::vector<double> times_;
  double best_ns_ = 0;
};

TEST(WrongModelTest, WhoLearnsFromFewPlansFindsFasterOnes) {
  const Device device = *FindDevice("h200");
  double local = 0, ranked = 0;
  int landscapes = 0;
  for (const Shape& shape : {Shape{256, 512, 4096}, {1024, 1024, 1024}, {4096, 4096, 128}, {2048, 2048, 4096}})
    for (const uint64_t seed : {1, 2}) {
      const WrongLandscape landscape({shape, {kTn}}, device, seed);
      local += landscape.Found("local", 16);
      ranked += landscape.Found("ranked", 16);
      ++landscapes;
    }
  RecordProperty("local", std::to_string(local / landscapes));
  RecordProperty("ranked", std::to_string(ranked / landscapes));
  EXPECT_GT(local / landscapes, ranked / landscapes + 0.05);
  EXPECT_GT(local / landscapes, 0.8);
}

}  // namespace
}  // namespace gemmsmith
