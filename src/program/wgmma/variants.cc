#include "program/wgmma/variants.h"

#include <vector>

#include "program/legality.h"
#include "program/wgmma/wgmma_cost.h"
#include "program/wgmma/wgmma_plan.h"

namespace gemmsmith {

namespace {

// A wave that reads this share of the bytes is worth a race. The logarithm of speed falls by 0.036 of the logarithm of
// the bytes (1,506 plans of races with calls over 0.6 ms, H200).
constexpr double kSquarer = 0.95;

// The plan with every live value of an axis, in order.
std::vector<Plan> Along(WgmmaAxis::Index axis, const Plan& plan) {
  std::vector<Plan> plans;
  for (const int value : WgmmaAxes()[axis].live_values()) {
    plans.push_back(plan);
    plans.back().values[axis] = value;
  }
  return plans;
}

}  // namespace

std::optional<Plan> SquarerRaster(const Plan& plan, const Gemm& gemm, const Device& device) {
  double least = kSquarer * WaveBytes(WgmmaPlan(plan), gemm, device);
  std::optional<Plan> squarest;
  for (const Plan& other : Along(WgmmaAxis::kRaster, plan))
    if (const double bytes = WaveBytes(WgmmaPlan(other), gemm, device);
        bytes < least && IsWorthTrying(other, gemm, device))
      squarest = other, least = bytes;
  return squarest;
}

std::optional<Plan> ShorterRing(const Plan& plan, const Gemm& gemm, int64_t most_bytes) {
  const WgmmaPlan read(plan);
  const auto fits = [&](const WgmmaPlan& form) { return form.SmemBytes(gemm.shape) <= most_bytes; };
  if (read.split == 1 || !read.is_ring() || fits(read)) return std::nullopt;
  std::optional<Plan> longest;
  for (const Plan& other : Along(WgmmaAxis::kStages, plan))
    if (const WgmmaPlan form(other); form.is_ring() && form.stages < read.stages && fits(form)) longest = other;
  return longest;
}

}  // namespace gemmsmith
