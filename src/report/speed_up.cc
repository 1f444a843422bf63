#include "report/speed_up.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <string_view>

#include "evaluate/time/pairing.h"
#include "outcome/baseline_set.h"

namespace gemmsmith {
namespace {

constexpr std::string_view kOurs = "ours";
// With fewer the order statistics of a median do not reach 95 %.
constexpr int kMinPairs = 6;

struct RecordedTiming {
  const Outcome* outcome = nullptr;
  const Timing* timing = nullptr;
};

bool IsTime(const Timing* timing) {
  return timing != nullptr && timing->median_ns > 0 && std::isfinite(timing->median_ns);
}

// What is not chained itself stands beside chains with its plain time.
const Timing* FindTime(const Outcome& outcome, std::string_view name, Clock clock, bool as_reference) {
  const Timing* timing = outcome.Find(name, clock);
  if (timing == nullptr && as_reference) timing = outcome.Find(name, PlainOf(clock));
  return IsTime(timing) ? timing : nullptr;
}

std::vector<const Trial*> Runs(const ShapeRecords& records, std::string_view member, Clock clock) {
  if (!member.starts_with("ours_")) return records.RunsOfLibraries(clock);
  for (const auto& [layout, trial] : records.OursOn(clock))
    if (member.substr(5) == Name(layout)) return {trial};
  return {};
}

std::string_view NameInRun(std::string_view member) { return member.starts_with("ours_") ? kOurs : member; }

RecordedTiming Fastest(const ShapeRecords& records, const ContenderGroup& contender, Clock clock) {
  RecordedTiming fastest;
  for (const std::string& member : contender.members) {
    for (const Trial* run : Runs(records, member, clock)) {
      const Timing* timing = FindTime(run->outcome, NameInRun(member), clock, false);
      if (timing == nullptr) continue;
      if (fastest.timing == nullptr || timing->median_ns < fastest.timing->median_ns) fastest = {&run->outcome, timing};
      break;
    }
  }
  return fastest;
}

const RatioEstimate* Recorded(const Outcome& outcome, std::string_view contender, std::string_view baseline,
                              Clock clock) {
  for (const Comparison& comparison : outcome.comparisons)
    if (comparison.contender == contender && comparison.baseline == baseline && comparison.clock == clock)
      return &comparison.ratio;
  return nullptr;
}

RatioEstimate Inverse(const RatioEstimate& ratio) {
  return {.median = 1 / ratio.median,
          .mean = 1 / ratio.mean,
          .interval = {1 / ratio.interval.high, 1 / ratio.interval.low},
          .pairs = ratio.pairs};
}

RatioEstimate RatioOf(const Outcome& outcome, const Timing& contender, const Timing& reference, Clock clock) {
  if (const RatioEstimate* ratio = Recorded(outcome, contender.contender, reference.contender, clock)) return *ratio;
  if (const RatioEstimate* ratio = Recorded(outcome, reference.contender, contender.contender, clock))
    return Inverse(*ratio);
  const std::vector<double> ours(contender.samples_ns.begin(), contender.samples_ns.end());
  const std::vector<double> theirs(reference.samples_ns.begin(), reference.samples_ns.end());
  if (!ours.empty() && ours.size() == theirs.size()) return MeasuredRatio(theirs, ours);
  return {.median = reference.median_ns / contender.median_ns};
}

std::optional<ShapeSpeedUp> SpeedUpOf(const Outcome& outcome, const Timing& contender, const Timing& reference,
                                      Clock clock) {
  const RatioEstimate ratio = RatioOf(outcome, contender, reference, clock);
  if (!(ratio.median > 0) || !std::isfinite(ratio.median)) return std::nullopt;
  ShapeSpeedUp speed_up{
      .ratio = ratio.median, .reference_ns = reference.median_ns, .contender_ns = contender.median_ns};
  const bool sure = ratio.interval.IsKnown() && std::isfinite(ratio.interval.low) && std::isfinite(ratio.interval.high);
  if (ratio.pairs >= kMinPairs && sure) speed_up.interval = ratio.interval;
  return speed_up;
}

size_t RankOf(std::string_view family) {
  constexpr std::string_view kKnown[] = {"ours", "lt_auto", "lt_heuristic", "cublas", "torch", "lt_exhaustive"};
  return size_t(std::find(std::begin(kKnown), std::end(kKnown), family) - std::begin(kKnown));
}

// Whose kernels anybody gets: neither ours nor those of an exhaustive search.
bool IsLibrary(std::string_view family) {
  return RankOf(family) > RankOf(kOurs) && RankOf(family) < RankOf("lt_exhaustive");
}

struct FamilyOrder {
  bool operator()(const std::string& a, const std::string& b) const {
    return std::pair(RankOf(a), std::string_view(a)) < std::pair(RankOf(b), std::string_view(b));
  }
};

}  // namespace

const Timing* FastestTime(const ShapeRecords& records, const ContenderGroup& group, Clock clock) {
  return Fastest(records, group, clock).timing;
}

std::vector<ContenderGroup> ContenderGroupsOf(const std::vector<ShapeRecords>& shapes) {
  std::map<std::string, std::set<std::string>, FamilyOrder> families;
  const auto add = [&](const Outcome& outcome, const std::string& ours) {
    for (const Timing& timing : outcome.timings) {
      const std::string& name = timing.contender == kOurs ? ours : timing.contender;
      families[std::string(FamilyOf(name))].insert(name);
    }
  };
  for (const ShapeRecords& records : shapes) {
    if (records.race != nullptr) add(records.race->outcome, "ours");
    for (const auto& [layout, trial] : records.ours) add(trial->outcome, "ours_" + std::string(Name(layout)));
  }
  std::vector<ContenderGroup> groups;
  ContenderGroup library{"library_max", {}};
  int library_families = 0;
  for (const auto& [family, names] : families) {
    for (const std::string& name : names) groups.push_back({name, {name}});
    if (IsLibrary(family)) {
      library.members.insert(library.members.end(), names.begin(), names.end());
      ++library_families;
    }
    const std::string nn = family + "_nn", tn = family + "_tn";
    // Of our kernels there may be one layout only; it is the faster one then.
    if (names.contains(nn) && names.contains(tn))
      groups.push_back({family + "_max", {nn, tn}});
    else if (family == kOurs)
      groups.push_back({family + "_max", {names.contains(nn) ? nn : names.contains(tn) ? tn : *names.begin()}});
  }
  if (library_families > 1) groups.push_back(std::move(library));
  return groups;
}

std::optional<ShapeSpeedUp> Compare(const ShapeRecords& records, const ContenderGroup& contender,
                                    const ContenderGroup& reference, Clock clock) {
  const RecordedTiming fastest = Fastest(records, contender, clock);
  if (fastest.timing == nullptr) return std::nullopt;
  std::optional<ShapeSpeedUp> hardest;
  for (const std::string& member : reference.members) {
    const Timing* timing = FindTime(*fastest.outcome, NameInRun(member), clock, true);
    if (timing == nullptr) continue;
    const std::optional<ShapeSpeedUp> speed_up = SpeedUpOf(*fastest.outcome, *fastest.timing, *timing, clock);
    if (speed_up && (!hardest || speed_up->ratio < hardest->ratio)) hardest = speed_up;
  }
  if (hardest) hardest->shape = records.shape;
  return hardest;
}

}  // namespace gemmsmith
