#include "search/forecast.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "program/cost.h"
#include "program/legality.h"
#include "search/fresh_plans.h"

namespace gemmsmith {

namespace {

// How fast a measured plan's say falls with distance, and how many measured plans at hand outweigh its family's mean.
constexpr double kReach = 2;
constexpr double kPrior = 0.5;
// What a failure says about plans near it: as if this much slower than predicted.
constexpr double kFailureLog = 0.3;
// Starts are at least so far from each other, secondary axes aside: climbs find the neighbours by themselves.
constexpr int kApart = 2;
// A family joins the starts when its best is predicted at most so much slower than the best of all.
constexpr double kNearTheBest = 1.5;

}  // namespace

Forecast::Forecast(const SearchContext& context)
    : space_(*context.space),
      log_predicted_(space_.size()),
      corrections_(space_.size()),
      of_family_(Families().size()),
      order_(space_.size()) {
  const bool sound = context.gemm.shape.Volume() > 0 && Problems(context.gemm).empty();
  for (size_t i = 0; sound && i < space_.size(); ++i) {
    const Plan& plan = space_.plans()[i];
    const bool legal = IsLegal(plan, context.gemm, context.device);
    log_predicted_[i] = legal ? std::log(PredictTimeNs(plan, context.gemm, context.device)) : INFINITY;
  }
  std::iota(order_.begin(), order_.end(), 0u);
  Random(context.seed).Fork("forecast ties").Shuffle(order_);
  std::stable_sort(order_.begin(), order_.end(),
                   [this](uint32_t a, uint32_t b) { return log_predicted_[a] < log_predicted_[b]; });
}

void Forecast::Learn(const Plan& plan, const Outcome& outcome) {
  const std::vector<Plan>& plans = space_.plans();
  const auto found = std::lower_bound(plans.begin(), plans.end(), plan);
  if (found == plans.end() || *found != plan) return;
  const double predicted = log_predicted_[size_t(found - plans.begin())];
  if (!std::isfinite(predicted)) return;
  const bool measured = outcome.kind == OutcomeKind::kMeasured;
  Correction& family = of_family_[size_t(plan.family)];
  const double error = measured ? std::log(outcome.TimeNs()) - predicted
                                : (family.weight > 0 ? family.sum / family.weight : 0) + kFailureLog;
  if (measured) family.weight += 1, family.sum += error;
  for (size_t i = 0; i < plans.size(); ++i) {
    if (plans[i].family != plan.family) continue;
    const double weight = std::exp(-Distance(plan, plans[i]) / kReach);
    corrections_[i].weight += weight;
    corrections_[i].sum += weight * error;
  }
}

double Forecast::TimeNs(size_t index) const {
  const Correction& family = of_family_[size_t(space_.plans()[index].family)];
  const Correction& near = corrections_[index];
  const double mean = family.weight > 0 ? family.sum / family.weight : 0;
  return std::exp(log_predicted_[index] + (near.sum + kPrior * mean) / (near.weight + kPrior));
}

std::vector<Plan> PromisingStarts(const Forecast& forecast, const Space& space, size_t count) {
  std::vector<std::vector<Plan>> by_family(Families().size());
  double best_ns = 0;
  for (const uint32_t index : forecast.order()) {
    const double time_ns = forecast.TimeNs(index);
    if (!std::isfinite(time_ns)) break;
    if (best_ns == 0) best_ns = time_ns;
    const Plan& plan = space.plans()[index];
    std::vector<Plan>& starts = by_family[size_t(plan.family)];
    if (starts.size() == count || (starts.empty() && time_ns > kNearTheBest * best_ns)) continue;
    const Plan geometry = GeometryOf(plan);
    const auto near = [&](const Plan& start) { return Distance(GeometryOf(start), geometry) < kApart; };
    if (std::none_of(starts.begin(), starts.end(), near)) starts.push_back(plan);
  }
  std::vector<Plan> starts;
  for (size_t rank = 0; starts.size() < count; ++rank) {
    const size_t before = starts.size();
    for (const std::vector<Plan>& family : by_family)
      if (rank < family.size() && starts.size() < count) starts.push_back(family[rank]);
    if (starts.size() == before) break;
  }
  return starts;
}

}  // namespace gemmsmith
