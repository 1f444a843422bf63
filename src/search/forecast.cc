#include "search/forecast.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "program/cost.h"
#include "program/legality.h"
#include "search/experience.h"
#include "search/fresh_plans.h"
#include "search/prediction_error.h"

namespace gemmsmith {

namespace {

// Of what is measured, as a logarithm.
constexpr double kTimingNoise = 0.02;
// Learning costs the number of plans times what was learned before; so much is enough to know a space.
constexpr size_t kMaxErrors = 1000;
// A failure speaks as if the plan were so much slower than forecast.
constexpr double kFailureLog = 0.3;
// Starts are at least so far from each other: climbs find the neighbours by themselves.
constexpr int kApart = 2;
// A family joins the starts when its best is predicted at most so much slower than the best of all.
constexpr double kNearTheBest = 1.5;

}  // namespace

Forecast::Forecast(const SearchContext& context)
    : space_(*context.space),
      log_predicted_(space_.size()),
      error_(
          space_.size(), [&plans = space_.plans()](size_t a, size_t b) { return ErrorCovariance(plans[a], plans[b]); },
          kTimingNoise),
      order_(space_.size()) {
  const bool sound = context.gemm.shape.Volume() > 0 && WhyInvalid(context.gemm).empty();
  for (size_t i = 0; sound && i < space_.size(); ++i) {
    const Plan& plan = space_.plans()[i];
    const bool legal = IsWorthTrying(plan, context.gemm, context.device);
    log_predicted_[i] = legal ? std::log(PredictTimeNs(plan, context.gemm, context.device)) : INFINITY;
  }
  if (sound && context.experience != nullptr) {
    const std::vector<double> errors = context.experience->ErrorsOn(context);
    for (size_t i = 0; i < errors.size(); ++i) log_predicted_[i] += errors[i];
  }
  std::iota(order_.begin(), order_.end(), 0u);
  Random(context.seed).Fork("forecast ties").Shuffle(order_);
  std::stable_sort(order_.begin(), order_.end(),
                   [this](uint32_t a, uint32_t b) { return log_predicted_[a] < log_predicted_[b]; });
}

void Forecast::Learn(const Plan& plan, const Outcome& outcome) {
  const std::optional<size_t> here = space_.IndexOf(plan);
  if (!here) return;
  if (outcome.kind == OutcomeKind::kMeasured)
    LearnError(*here, std::log(pace_.TimeNs(outcome)) - log_predicted_[*here]);
  else
    LearnError(*here, error_.Mean(*here) + kFailureLog);
}

void Forecast::Learn(const Plan& plan, double time_ns) {
  if (const std::optional<size_t> here = space_.IndexOf(plan))
    LearnError(*here, std::log(time_ns) - log_predicted_[*here]);
}

void Forecast::LearnError(size_t index, double error) {
  error_.ClearPending(index);
  if (std::isfinite(log_predicted_[index]) && error_.learned() < kMaxErrors) error_.Learn(index, error);
}

double Forecast::OptimisticTimeNs(size_t index, double deviations) const {
  return std::exp(log_predicted_[index] + error_.Mean(index) - deviations * std::sqrt(error_.OpenVariance(index)));
}

std::vector<Plan> PromisingStarts(const Forecast& forecast, const Space& space, size_t count) {
  std::vector<std::vector<Plan>> by_family;  // that of the lowest prediction first
  double best_ns = 0;
  const auto add_apart = [&](Plan (*view_of)(const Plan&)) {
    for (const uint32_t index : forecast.order()) {
      const double time_ns = forecast.TimeNs(index);
      if (!std::isfinite(time_ns)) break;
      if (best_ns == 0) best_ns = time_ns;
      const Plan& plan = space.plans()[index];
      const auto starts = std::ranges::find(by_family, plan.family, [](const auto& of) { return of.front().family; });
      if (starts == by_family.end()) {
        if (time_ns <= kNearTheBest * best_ns) by_family.push_back({plan});
        continue;
      }
      const Plan view = view_of(plan);
      const auto near = [&](const Plan& start) { return Distance(view_of(start), view) < kApart; };
      if (starts->size() < count && std::ranges::none_of(*starts, near)) starts->push_back(plan);
    }
  };
  // Rings of other lengths are predicted nearly equal: apart in tile and feed, 12 of 24 starts had one tile.
  add_apart(TilingOf);
  add_apart(GeometryOf);  // where tilings are few
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
