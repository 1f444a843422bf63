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
  int64_t unix_ms = 0;
};

// The races of one product, a campaign each.
struct Campaign {
  int64_t latest_unix_ms = 0;
  std::vector<Raced> raced;
};
using Campaigns = std::map<std::string, Campaign>;

const RatioEstimate* OverSameLayout(const Trial& trial, Clock clock) {
  const std::string baseline = fmt::format("lt_auto_{}", Name(trial.gemm.kind.layout));
  for (const Comparison& comparison : trial.outcome.comparisons)
    if (comparison.contender == "ours" && comparison.clock == clock && comparison.baseline == baseline)
      return &comparison.ratio;
  return nullptr;
}

std::map<Gemm, Campaigns> RacesOf(const std::vector<Trial>& trials, const Selection& selection) {
  std::map<Gemm, Campaigns> products;
  for (const Trial& trial : trials) {
    if (!trial.IsTimedPlan() || trial.outcome.protocol != selection.protocol || !IsOfSelectedShape(trial, selection))
      continue;
    const RatioEstimate* const ratio = OverSameLayout(trial, selection.leading);
    if (ratio == nullptr) continue;
    Campaign& campaign = products[trial.gemm][trial.campaign];
    campaign.latest_unix_ms = std::max(campaign.latest_unix_ms, trial.unix_ms);
    campaign.raced.push_back({trial.plan(), *ratio, trial.unix_ms});
  }
  return products;
}

// A plan's earlier race and its later one.
struct Twice {
  const Raced *earlier = nullptr, *later = nullptr;
};

// Of the plans that the last campaign timed the one that was fastest before; who takes part in it is settled before
// anybody's time there is.
std::optional<Twice> ChoiceOf(const Campaigns& campaigns) {
  const auto last =
      std::ranges::max_element(campaigns, {}, [](const auto& campaign) { return campaign.second.latest_unix_ms; });
  std::optional<Twice> choice;
  for (const auto& [name, campaign] : campaigns) {
    if (name == last->first) continue;
    for (const Raced& earlier : campaign.raced)
      for (const Raced& later : last->second.raced)
        if (earlier.plan == later.plan && earlier.unix_ms < later.unix_ms &&
            (!choice || earlier.ratio.median > choice->earlier->ratio.median))
          choice = {&earlier, &later};
  }
  return choice;
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
    const std::optional<Twice> choice = ChoiceOf(campaigns);
    if (!choice)
      ++dispatch.without_later_race;
    else if (choice->earlier->ratio.interval.low > 1)
      dispatch.products.push_back({gemm, true, choice->later->ratio.median, choice->later->ratio.interval});
    else
      dispatch.products.push_back({.gemm = gemm});
  }
  return dispatch;
}

}  // namespace gemmsmith
