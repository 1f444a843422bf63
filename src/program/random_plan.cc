#include "program/random_plan.h"

#include "program/legality.h"

namespace gemmsmith {

namespace {

// Climbs of 200 left 3 of 1,158 covered values out, those of 1,000 none (six seeds, two problems).
constexpr int kTries = 10000, kClimb = 1000;

void Draw(Plan& plan, const Axis& axis, size_t index, Random& random) {
  const std::span<const int> values = axis.live_values();
  plan.values[index] = values[random.Below(values.size())];
}

void DrawAny(Plan& plan, const Family& family, Random& random) {
  const size_t index = random.Below(family.axes.size());
  Draw(plan, family.axes[index], index, random);
}

}  // namespace

// Climbs from plans drawn at random: an axis drawn anew stays where it leaves no more reasons than there were. Most
// values go with few others: a wgmma plan drawn as a whole is legal once in hundreds of thousands.
std::optional<Plan> RandomPlan(const Family& family, std::span<const AxisValue> settings, const Gemm& gemm,
                               const Device& device, Random& random) {
  Plan plan = DefaultPlan(family.id);
  int reasons = 0;
  for (int i = 0; i < kTries; ++i) {
    Plan next = plan;
    if (i % kClimb == 0)
      for (size_t axis = 0; axis < family.axes.size(); ++axis) Draw(next, family.axes[axis], axis, random);
    else
      DrawAny(next, family, random);
    for (const auto& [axis, value] : settings) next.values[axis] = value;
    const int next_reasons = CountReasons(next, gemm, device);
    if (i % kClimb != 0 && next_reasons > reasons) continue;
    plan = next, reasons = next_reasons;
    if (reasons == 0) return plan;
  }
  return std::nullopt;
}

}  // namespace gemmsmith
