#include "report/dispatch.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "archive/trial.h"

namespace gemmsmith {
namespace {

struct Raced {
  Plan plan;
  RatioEstimate ratio;
};

// The races of one product, a campaign each.
struct Campaign {
  int64_t latest_unix_ms = 0;
  std::vector<Raced> raced;
};
using Campaigns = std::map<std::string, Campaign>;

const RatioEstimate* OverSameLayout(const Trial& trial) {
  const std::string baseline = fmt::format("lt_auto_{}", Name(trial.gemm.kind.layout));
  for (const Comparison& comparison : trial.outcome.comparisons)
    if (comparison.contender == "ours" && comparison.clock == Clock::kDevice && comparison.baseline == baseline)
      return &comparison.ratio;
  return nullptr;
}

std::map<Gemm, Campaigns> RacesOf(const std::vector<Trial>& trials, const Selection& selection) {
  std::map<Gemm, Campaigns> products;
  for (const Trial& trial : trials) {
    if (!trial.IsTimedPlan() || trial.outcome.protocol != selection.protocol || !IsOfSelectedShape(trial, selection))
      continue;
    const RatioEstimate* const ratio = OverSameLayout(trial);
    if (ratio == nullptr) continue;
    Campaign& campaign = products[trial.gemm][trial.campaign];
    campaign.latest_unix_ms = std::max(campaign.latest_unix_ms, trial.unix_ms);
    campaign.raced.push_back({trial.plan(), *ratio});
  }
  return products;
}

const Raced* FastestOf(const std::vector<const Campaign*>& campaigns, size_t count) {
  const Raced* fastest = nullptr;
  for (const Campaign* const campaign : std::span(campaigns).first(count))
    for (const Raced& one : campaign->raced)
      if (fastest == nullptr || one.ratio.median > fastest->ratio.median) fastest = &one;
  return fastest;
}

// Nothing where no campaign timed again what those before it would have chosen.
std::optional<Dispatched> DispatchedOf(const Gemm& gemm, const Campaigns& campaigns) {
  std::vector<const Campaign*> in_time;
  for (const auto& [name, campaign] : campaigns) in_time.push_back(&campaign);
  std::ranges::sort(in_time, {}, [](const Campaign* campaign) { return campaign->latest_unix_ms; });
  for (size_t later = in_time.size(); --later > 0;) {
    const Raced& choice = *FastestOf(in_time, later);
    const std::vector<Raced>& raced = in_time[later]->raced;
    const auto again = std::ranges::find(raced, choice.plan, &Raced::plan);
    if (again == raced.end()) continue;
    if (choice.ratio.interval.low <= 1) return Dispatched{.gemm = gemm};
    return Dispatched{gemm, true, again->ratio.median, again->ratio.interval};
  }
  return std::nullopt;
}

}  // namespace

int Dispatch::ToOurs() const { return int(std::ranges::count(products, true, &Dispatched::is_ours)); }

int Dispatch::ClearLosses() const {
  return int(std::ranges::count_if(products, [](const Dispatched& one) { return one.interval.high < 1; }));
}

double Dispatch::Geomean() const {
  std::vector<double> ratios;
  for (const Dispatched& one : products) ratios.push_back(one.ratio);
  return GeometricMean(ratios);
}

double Dispatch::Min() const { return std::ranges::min_element(products, {}, &Dispatched::ratio)->ratio; }

Dispatch DispatchOf(const std::vector<Trial>& trials, const Selection& selection) {
  Dispatch dispatch;
  for (const auto& [gemm, campaigns] : RacesOf(trials, selection)) {
    if (const std::optional<Dispatched> one = DispatchedOf(gemm, campaigns))
      dispatch.products.push_back(*one);
    else
      ++dispatch.without_later_race;
  }
  return dispatch;
}

}  // namespace gemmsmith
