#include "search/order_quality.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "base/statistics.h"
#include "program/cost.h"
#include "program/wgmma_family.h"

namespace gemmsmith {

namespace {

constexpr std::string_view kNames[] = {"model", "model, as many", "nvmmh", "nvmmh, same tile", "wgmma at best"};
constexpr size_t kOrders = std::size(kNames), kFew = 8, kMany = 16, kFewestPlans = 4;

struct MeasuredPlan {
  Plan plan;
  double time_ns = 0;
};

// The plans of a problem in the protocol that all have.
std::vector<MeasuredPlan> MeasuredPlans(const Recording& recording, const Gemm& gemm) {
  std::vector<MeasuredPlan> measured;
  const Space space = recording.SpaceFor(gemm);
  for (const Plan& plan : space.plans())
    if (const Trial* trial = recording.Find(gemm, plan, Protocol::kScreen); trial != nullptr && trial->IsTimedPlan())
      measured.push_back({plan, trial->outcome.TimeNs()});
  return measured;
}

using Times = std::vector<double>;  // in the order that is judged, over the best

// One problem, seen by every order.
class Sighting {
 public:
  Sighting(std::vector<MeasuredPlan> measured, const Gemm& gemm, const Device& device)
      : gemm_(gemm), device_(device), measured_(std::move(measured)) {
    std::vector<std::pair<double, double>> predicted;
    for (const MeasuredPlan& one : measured_) {
      plans_.push_back(one.plan);
      best_ns_ = std::min(best_ns_, one.time_ns);
      predicted.emplace_back(PredictTimeNs(one.plan, gemm, device), one.time_ns);
    }
    std::sort(predicted.begin(), predicted.end());
    for (const auto& [ignored, time_ns] : predicted) Of(PlanOrder::kModel).push_back(time_ns / best_ns_);
    LimitToWgmma();
  }

  void Follow(std::span<const NvmmhConfig> configs) {
    std::vector<const Plan*> seen;
    for (const NvmmhConfig& config : configs) {
      const std::optional<Plan> wanted = NearestLegalPlan(config, gemm_, device_);
      const Plan* const nearest = wanted ? NearestOf(plans_, *wanted, gemm_, device_) : nullptr;
      if (nearest == nullptr) continue;
      const bool same = IsSameTile(*wanted, *nearest);
      ++configs_, same_ += same;
      if (std::find(seen.begin(), seen.end(), nearest) != seen.end()) continue;
      seen.push_back(nearest);
      const double regret = measured_[size_t(nearest - plans_.data())].time_ns / best_ns_;
      Of(PlanOrder::kNvmmh).push_back(regret);
      if (same) Of(PlanOrder::kNvmmhSame).push_back(regret);
    }
    Times as_many = Of(PlanOrder::kModel);
    as_many.resize(std::min(as_many.size(), Of(PlanOrder::kNvmmh).size()));
    Of(PlanOrder::kModelAsMany) = std::move(as_many);
  }

  const Times& Of(PlanOrder order) const { return times_[size_t(order)]; }
  int configs() const { return configs_; }
  int same() const { return same_; }

 private:
  static bool IsSameTile(const Plan& a, const Plan& b) {
    const WgmmaPlan first(a), second(b);
    return first.tile_m == second.tile_m && first.tile_n == second.tile_n && first.split == second.split;
  }

  void LimitToWgmma() {
    double best_ns = INFINITY;
    for (const MeasuredPlan& one : measured_)
      if (one.plan.family == FamilyId::kWgmma) best_ns = std::min(best_ns, one.time_ns);
    if (best_ns < INFINITY) Of(PlanOrder::kWgmmaBest) = {best_ns / best_ns_};
  }

  Times& Of(PlanOrder order) { return times_[size_t(order)]; }

  const Gemm& gemm_;
  const Device& device_;
  std::vector<MeasuredPlan> measured_;
  std::vector<Plan> plans_;  // the same
  double best_ns_ = INFINITY;
  Times times_[kOrders];
  int configs_ = 0, same_ = 0;
};

// Sightings of one class added up.
class Tally {
 public:
  void Add(const Sighting& sighting) {
    configs_ += sighting.configs(), same_ += sighting.same();
    for (size_t order = 0; order < kOrders; ++order) {
      const Times& times = sighting.Of(PlanOrder(order));
      if (times.empty()) continue;
      plans_[order] += double(std::min(times.size(), kMany));
      at_8_[order].push_back(BestOfFirst(times, kFew));
      at_16_[order].push_back(BestOfFirst(times, kMany));
    }
  }

  OrderQuality Quality(std::optional<ShapeClass> shape_class, PlanOrder order) const {
    const size_t i = size_t(order);
    const bool of_nvmmh = order == PlanOrder::kNvmmh || order == PlanOrder::kNvmmhSame;
    OrderQuality quality{.shape_class = shape_class, .order = order, .problems = int(at_8_[i].size())};
    if (quality.problems == 0) return quality;
    quality.plans = plans_[i] / quality.problems;
    quality.exact = of_nvmmh && configs_ > 0 ? double(same_) / configs_ : 0;
    quality.at_8 = Summary(at_8_[i]);
    quality.at_16 = Summary(at_16_[i]);
    return quality;
  }

 private:
  static double BestOfFirst(const Times& times, size_t count) {
    return *std::min_element(times.begin(), times.begin() + long(std::min(count, times.size())));
  }

  static Regret Summary(Times regrets) {
    std::sort(regrets.begin(), regrets.end());
    const auto near = std::upper_bound(regrets.begin(), regrets.end(), 1.02);
    return {Median(regrets), regrets[regrets.size() * 9 / 10], double(near - regrets.begin()) / double(regrets.size())};
  }

  int configs_ = 0, same_ = 0;
  double plans_[kOrders] = {};
  Times at_8_[kOrders], at_16_[kOrders];
};

bool IsAskedFor(const Gemm& gemm) {
  return (gemm.kind.layout == kNn || gemm.kind.layout == kTn) && gemm.kind.accumulation == Accumulation::kF32;
}

}  // namespace

std::string_view Name(PlanOrder order) { return kNames[size_t(order)]; }

Result<std::vector<OrderQuality>> QualitiesOf(const Recording& recording, const AskForConfigs& ask) {
  ASSIGN_OR_RETURN(const Device device, FindDevice(recording.setting().device_key));
  std::map<std::optional<ShapeClass>, Tally> tallies;
  for (const Gemm& gemm : recording.Problems()) {
    std::vector<MeasuredPlan> measured = MeasuredPlans(recording, gemm);
    if (!IsAskedFor(gemm) || measured.size() < kFewestPlans) continue;
    ASSIGN_OR_RETURN(const std::vector<NvmmhConfig> configs, ask(gemm, device));
    Sighting sighting(std::move(measured), gemm, device);
    sighting.Follow(configs);
    tallies[Classify(gemm.shape)].Add(sighting);
    tallies[std::nullopt].Add(sighting);
  }
  std::vector<OrderQuality> qualities;
  for (const auto& [shape_class, tally] : tallies)
    for (size_t order = 0; order < kOrders; ++order) qualities.push_back(tally.Quality(shape_class, PlanOrder(order)));
  return qualities;
}

}  // namespace gemmsmith
