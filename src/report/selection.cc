#include "report/selection.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>
#include <tuple>

#include "program/legality.h"

namespace gemmsmith {
namespace {

using Candidates = std::vector<const Trial*>;

bool HasRetiredPlan(const Trial& trial) { return trial.HasPlan() && HasRetiredValues(trial.plan()); }

bool IsOurs(const Trial& trial) { return !std::holds_alternative<Nobody>(trial.subject); }

// A time that a table may hold: a trial without any is none of a report's.
bool IsTimed(const Trial& trial) {
  return trial.outcome.kind == OutcomeKind::kMeasured && !HasRetiredPlan(trial) &&
         (!IsOurs(trial) || std::any_of(trial.outcome.timings.begin(), trial.outcome.timings.end(),
                                        [](const Timing& timing) { return timing.contender == "ours"; }));
}

bool HasTimeOn(const Trial& trial, const std::optional<Clock>& clock) {
  return !clock || std::ranges::find(trial.outcome.timings, *clock, &Timing::clock) != trial.outcome.timings.end();
}

Result<Candidates> OfOneDevice(const Candidates& timed, const std::optional<std::string>& key) {
  std::set<std::string> keys;
  for (const Trial* trial : timed) keys.insert(trial->setting.device_key);
  if (!key && keys.size() > 1)
    return InvalidArgument(fmt::format("the records are of {}: choose one with --device", fmt::join(keys, " and ")));
  if (key && !keys.contains(*key))
    return NotFound(fmt::format("no measurement on {}; there are those on {}", *key, fmt::join(keys, " and ")));
  Candidates chosen;
  for (const Trial* trial : timed)
    if (!key || trial->setting.device_key == *key) chosen.push_back(trial);
  return chosen;
}

Result<Candidates> OfOneProtocol(const Candidates& timed, const std::optional<Protocol>& wanted) {
  std::set<Protocol> protocols;
  for (const Trial* trial : timed) protocols.insert(trial->outcome.protocol);
  Protocol protocol = *protocols.begin();
  for (const Protocol other : protocols)
    if (MoreCareful(other, protocol)) protocol = other;
  if (protocols.contains(Protocol::kShort)) protocol = Protocol::kShort;
  if (wanted && !protocols.contains(*wanted))
    return NotFound(
        fmt::format("no measurement in the {} protocol; there are those in the {} one", Name(*wanted), Name(protocol)));
  Candidates chosen;
  for (const Trial* trial : timed)
    if (trial->outcome.protocol == wanted.value_or(protocol)) chosen.push_back(trial);
  return chosen;
}

bool IsOffTheRing(const Trial& trial) { return trial.outcome.LeadingClock() != Clock::kDeviceCold; }

// The ring first, then more clocks, then the shortest time on the leading one.
std::tuple<bool, int, double> Rank(const Trial& trial) {
  const Outcome& outcome = trial.outcome;
  int clocks = 0;
  for (const Timing& timing : outcome.timings) clocks += timing.contender == "ours" && !IsChained(timing.clock);
  return {IsOffTheRing(trial), -clocks, outcome.Ours() == nullptr ? 0 : outcome.Ours()->median_ns};
}

using Measure = std::optional<std::pair<bool, double>>;

Measure ChainedNs(const Trial& trial) {
  const Timing* chained = trial.outcome.OursChained();
  return chained == nullptr ? std::nullopt : Measure({IsOffTheRing(trial), chained->median_ns});
}

Measure Joules(const Trial& trial) {
  const Timing* timing = trial.outcome.Find("ours", Clock::kEnergy);
  return timing == nullptr || !timing->energy ? std::nullopt : Measure({false, timing->energy->joules});
}

// Of those that have it.
void KeepLeast(const Trial& trial, Measure (*measure)(const Trial&), const Trial*& least) {
  if (least == nullptr || *measure(trial) < *measure(*least)) least = &trial;
}

Clock LeadingClockOf(const std::vector<ShapeRecords>& shapes) {
  const auto is_on_ring = [](const Trial* trial) { return trial != nullptr && !IsOffTheRing(*trial); };
  const bool any = std::ranges::any_of(shapes, [&](const ShapeRecords& records) {
    return is_on_ring(records.race) ||
           std::ranges::any_of(records.ours, [&](const auto& of_layout) { return is_on_ring(of_layout.second); });
  });
  return any ? Clock::kDeviceCold : Clock::kDevice;
}

// Trials on repeated calls are older than any on the ring.
bool IsOlder(const Trial& first, const Trial& second) {
  return std::pair(!IsOffTheRing(first), first.unix_ms) < std::pair(!IsOffTheRing(second), second.unix_ms);
}

struct RecordsOfShape {
  std::map<std::pair<Layout, TrialSubject>, const Trial*> newest;
  const Trial* race = nullptr;

  void Add(const Trial& trial) {
    const Trial*& slot = IsOurs(trial) ? newest[{trial.gemm.kind.layout, trial.subject}] : race;
    if (slot == nullptr || !IsOlder(trial, *slot)) slot = &trial;
  }

  // Of each layout the newest trial of ours that was timed to decide.
  std::map<Layout, const Trial*> Decisive() const {
    std::map<Layout, const Trial*> decisive;
    for (const auto& [who, trial] : newest) {
      if (trial->outcome.Find("ours", Clock::kServer) == nullptr) continue;
      const Trial*& last = decisive[who.first];
      if (last == nullptr || IsOlder(*last, *trial)) last = trial;
    }
    return decisive;
  }

  ShapeRecords Chosen(const Shape& shape) const {
    ShapeRecords records{.shape = shape, .race = race};
    const std::map<Layout, const Trial*> decisive = Decisive();
    for (const auto& [who, trial] : newest) {
      const auto last = decisive.find(who.first);
      const bool counts = last == decisive.end() || trial->campaign == last->second->campaign;
      const Trial*& best = records.ours[who.first];
      if (counts && (best == nullptr || Rank(*trial) < Rank(*best))) best = trial;
      if (ChainedNs(*trial)) KeepLeast(*trial, ChainedNs, records.chained[who.first]);
      if (Joules(*trial)) KeepLeast(*trial, Joules, records.thriftiest);
    }
    return records;
  }
};

}  // namespace

std::vector<const Trial*> ShapeRecords::RunsOfLibraries(Clock clock) const {
  std::vector<const Trial*> runs;
  if (race != nullptr) runs.push_back(race);
  for (const auto& [layout, trial] : OursOn(clock)) runs.push_back(trial);
  return runs;
}

std::string Print(const NumberTypes& number_types) {
  return fmt::format("{} in and out, {} accumulation{}", Name(number_types.type), Name(number_types.accumulation),
                     number_types.constant_b ? ", constant B" : "");
}

GemmKind KindOf(const NumberTypes& number_types) {
  return {.type = number_types.type, .accumulation = number_types.accumulation, .constant_b = number_types.constant_b};
}

bool IsOfKind(const Trial& trial, const NumberTypes& number_types) {
  const Gemm packed{trial.gemm.shape, trial.gemm.kind};
  const GemmKind& kind = trial.gemm.kind;
  return NumberTypes{kind.type, kind.accumulation, kind.constant_b} == number_types &&
         trial.gemm.LeadingA() == packed.LeadingA() && trial.gemm.LeadingB() == packed.LeadingB() &&
         trial.gemm.LeadingC() == packed.LeadingC();
}

bool IsOfSelectedShape(const Trial& trial, const Selection& selection) {
  return IsOfKind(trial, selection.number_types) && trial.setting.device_key == selection.setting.device_key &&
         std::ranges::binary_search(selection.shapes, trial.gemm.shape, {}, &ShapeRecords::shape);
}

Result<Selection> SelectRecords(const std::vector<Trial>& trials, const SelectionOptions& options) {
  Candidates timed;
  for (const Trial& trial : trials)
    if (IsTimed(trial) && IsOfKind(trial, options.number_types) && HasTimeOn(trial, options.clock))
      timed.push_back(&trial);
  if (timed.empty())
    return NotFound(fmt::format("nothing was measured{} of problems with {} among these {} records",
                                options.clock ? fmt::format(" on {}", Name(*options.clock)) : "",
                                Print(options.number_types), trials.size()));
  ASSIGN_OR_RETURN(timed, OfOneDevice(timed, options.device_key));
  ASSIGN_OR_RETURN(timed, OfOneProtocol(timed, options.protocol));
  std::map<Shape, RecordsOfShape> by_shape;
  for (const Trial* trial : timed) by_shape[trial->gemm.shape].Add(*trial);

  Selection selection{.protocol = timed.front()->outcome.protocol, .number_types = options.number_types};
  std::set<Shape> wanted;
  if (options.shapes) wanted.insert(options.shapes->begin(), options.shapes->end());
  for (const auto& [shape, records] : by_shape) {
    if (!options.shapes || wanted.contains(shape))
      selection.shapes.push_back(records.Chosen(shape));
    else
      ++selection.other_shapes;
  }
  if (selection.shapes.empty())
    return NotFound(fmt::format("none of the shapes asked for was measured; others were: {}, ... ({} in all)",
                                Print(by_shape.begin()->first), by_shape.size()));
  selection.leading = LeadingClockOf(selection.shapes);
  for (const Trial* trial : timed) {
    if (selection.first_unix_ms == 0 || trial->unix_ms < selection.first_unix_ms)
      selection.first_unix_ms = trial->unix_ms;
    if (trial->unix_ms < selection.last_unix_ms) continue;
    selection.last_unix_ms = trial->unix_ms;
    selection.setting = trial->setting;
  }
  return selection;
}

}  // namespace gemmsmith
