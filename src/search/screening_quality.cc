#include "search/screening_quality.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <utility>

#include "base/statistics.h"
#include "evaluate/time/race_rules.h"
#include "search/pace.h"

namespace gemmsmith {

namespace {

constexpr std::array<double, 7> kEdgesNs = {0, 20e3, 100e3, 300e3, 600e3, 1200e3, INFINITY};
constexpr size_t kFewestPlans = 3;
constexpr std::pair<Protocol, Protocol> kTellsOf[] = {
    {Protocol::kScreen, Protocol::kHeat}, {Protocol::kScreen, Protocol::kShort}, {Protocol::kHeat, Protocol::kShort}};

// Where one race's trials are: campaign, device, problem.
using Place = std::tuple<std::string, std::string, Gemm>;
using NewestTrials = std::map<Plan, const Trial*>;

double CallNs(const Trial& trial) { return Pace().TimeNs(trial.plan(), trial.outcome); }

bool IsTimed(const Trial& trial) {
  if (!trial.IsTimedPlan()) return false;
  const double call_ns = CallNs(trial);
  return call_ns > 0 && std::isfinite(call_ns);
}

bool Decides(const Trial& trial) {
  return IsTimed(trial) && (!IsLongCall(CallNs(trial)) || trial.outcome.conditions.is_settled);
}

std::map<Place, NewestTrials> TrialsOf(std::span<const Trial> trials, Protocol protocol, bool (&counts)(const Trial&)) {
  std::map<Place, NewestTrials> found;
  for (const Trial& trial : trials) {
    if (trial.outcome.protocol != protocol || !counts(trial)) continue;
    const Trial*& newest = found[{trial.campaign, trial.setting.device_key, trial.gemm}][trial.plan()];
    if (newest == nullptr || newest->unix_ms <= trial.unix_ms) newest = &trial;
  }
  return found;
}

// What those took in it that were told of before.
struct ToldRace {
  std::vector<double> raced_ns, told_ns, settled_ns;
  // Of those that bring something in, and what the logarithm of their speed lost.
  std::vector<double> brought_in, lost;

  ToldRace(const NewestTrials& raced, const NewestTrials& told) {
    Pace of_race, of_told, of_settled(true);
    for (const auto& [plan, trial] : raced) {
      const auto before = told.find(plan);
      if (before == told.end()) continue;
      raced_ns.push_back(of_race.TimeNs(plan, trial->outcome));
      told_ns.push_back(of_told.TimeNs(plan, before->second->outcome));
      settled_ns.push_back(of_settled.TimeNs(plan, before->second->outcome));
      const std::optional<double> brought = BroughtIn(plan);
      if (!brought) continue;
      brought_in.push_back(*brought);
      lost.push_back(std::log(raced_ns.back() / told_ns.back()));
    }
  }
  size_t size() const { return raced_ns.size(); }
  double FastestNs() const { return *std::ranges::min_element(raced_ns); }
  double FirstBehind(const std::vector<double>& expected_ns) const {
    return raced_ns[size_t(std::ranges::min_element(expected_ns) - expected_ns.begin())] / FastestNs();
  }
};

// Slope of y over x, each beside its mean of a race.
class SlopeWithinRaces {
 public:
  void Add(const std::vector<double>& x, const std::vector<double>& y) {
    if (x.empty()) return;
    const double mean_x = Mean(x), mean_y = Mean(y);
    for (size_t i = 0; i < x.size(); ++i) {
      xx_ += (x[i] - mean_x) * (x[i] - mean_x);
      xy_ += (x[i] - mean_x) * (y[i] - mean_y);
      yy_ += (y[i] - mean_y) * (y[i] - mean_y);
    }
    freedom_ += int(x.size()) - 1;
  }
  double Slope() const { return xx_ > 0 ? xy_ / xx_ : 0; }
  double Error() const {
    if (xx_ <= 0 || freedom_ < 2) return 0;
    return std::sqrt(std::max(0.0, yy_ - Slope() * xy_) / (freedom_ - 1) / xx_);
  }

 private:
  double xx_ = 0, xy_ = 0, yy_ = 0;
  int freedom_ = 0;
};

class Tally {
 public:
  void Add(const ToldRace& race) {
    plans_.push_back(double(race.size()));
    as_timed_.Add(race, race.told_ns);
    settled_.Add(race, race.settled_ns);
    slope_.Add(race.brought_in, race.lost);
  }
  bool empty() const { return plans_.empty(); }
  ScreeningQuality Quality(Protocol told_by, Protocol race, size_t bin) const {
    return {.told_by = told_by,
            .race = race,
            .from_ns = kEdgesNs[bin],
            .to_ns = kEdgesNs[bin + 1],
            .races = int(plans_.size()),
            .plans = Mean(plans_),
            .as_timed = as_timed_.Agreement(),
            .settled = settled_.Agreement(),
            .slope = slope_.Slope(),
            .slope_error = slope_.Error()};
  }

 private:
  struct Agreements {
    std::vector<double> orders, behind;
    void Add(const ToldRace& race, const std::vector<double>& expected_ns) {
      orders.push_back(RankCorrelation(expected_ns, race.raced_ns).value_or(0));
      behind.push_back(race.FirstBehind(expected_ns));
    }
    ScreeningAgreement Agreement() const { return {Mean(orders), Mean(behind)}; }
  };

  std::vector<double> plans_;
  Agreements as_timed_, settled_;
  SlopeWithinRaces slope_;
};

}  // namespace

std::vector<ScreeningQuality> QualitiesOfScreening(std::span<const Trial> trials) {
  std::vector<ScreeningQuality> qualities;
  for (const auto& [told_by, decided_by] : kTellsOf) {
    const std::map<Place, NewestTrials> told = TrialsOf(trials, told_by, IsTimed);
    std::array<Tally, kEdgesNs.size() - 1> tallies;
    for (const auto& [place, raced] : TrialsOf(trials, decided_by, Decides)) {
      const auto before = told.find(place);
      if (before == told.end()) continue;
      const ToldRace race(raced, before->second);
      if (race.size() < kFewestPlans) continue;
      const auto bin = std::ranges::upper_bound(kEdgesNs, race.FastestNs()) - kEdgesNs.begin() - 1;
      tallies[size_t(bin)].Add(race);
    }
    for (size_t bin = 0; bin < tallies.size(); ++bin)
      if (!tallies[bin].empty()) qualities.push_back(tallies[bin].Quality(told_by, decided_by, bin));
  }
  return qualities;
}

}  // namespace gemmsmith
