// How is measured, and what may become of a candidate.
#include "cli/readers.h"

#include <fmt/format.h>

#include <algorithm>
#include <initializer_list>

#include "base/text.h"

namespace gemmsmith {

namespace {

Result<Protocol> ReadProtocolOf(std::string_view text, std::initializer_list<Protocol> known) {
  const std::optional<Protocol> protocol = ParseProtocol(text);
  if (protocol && std::find(known.begin(), known.end(), *protocol) != known.end()) return *protocol;
  std::vector<std::string_view> names;
  for (const Protocol one : known) names.push_back(Name(one));
  return NoSuchWord("protocol", text, names);
}

}  // namespace

Result<Protocol> ReadProtocol(std::string_view text) {
  return ReadProtocolOf(text, {Protocol::kScreen, Protocol::kShort, Protocol::kLong});
}

Result<Protocol> ReadProtocolOfCells(std::string_view text) {
  return ReadProtocolOf(text, {Protocol::kScreen, Protocol::kShort});
}

Result<Protocol> ReadThoroughProtocol(std::string_view text) {
  return ReadProtocolOf(text, {Protocol::kShort, Protocol::kLong});
}

Result<Protocol> ReadAnyProtocol(std::string_view text) {
  return ReadProtocolOf(text, {Protocol::kScreen, Protocol::kHeat, Protocol::kShort, Protocol::kLong});
}

Result<ClockSet> ReadClocks(std::string_view text) {
  ClockSet clocks;
  for (const std::string_view word : Split(text, ',')) {
    const std::optional<Clock> clock = ParseClock(word);
    std::vector<std::string_view> known;
    for (int other = 0; other <= int(kLastClock); ++other) known.push_back(Name(Clock(other)));
    if (!clock) return NoSuchWord("mode", word, known);
    clocks.Add(*clock);
    clocks.Add(PlainOf(*clock));  // the race that chains are timed in
  }
  return clocks;
}

Result<Clock> ReadTimeClock(std::string_view text) {
  std::vector<std::string_view> known;
  for (int clock = 0; clock <= int(kLastClock); ++clock)
    if (Clock(clock) != Clock::kEnergy) known.push_back(Name(Clock(clock)));
  const std::optional<Clock> clock = ParseClock(text);
  if (clock && *clock != Clock::kEnergy) return *clock;
  return NoSuchWord("clock", text, known);
}

Result<OutcomeKind> ReadOutcomeKind(std::string_view text) {
  if (const std::optional<OutcomeKind> kind = ParseOutcomeKind(text)) return *kind;
  std::vector<std::string_view> known;
  for (int kind = 0; kind <= int(kLastOutcomeKind); ++kind) known.push_back(Name(OutcomeKind(kind)));
  return NoSuchWord("outcome", text, known);
}

Result<Objective> ReadObjective(std::string_view text) {
  const std::vector<std::string_view> known = {Name(Objective::kTime), Name(Objective::kEnergy)};
  for (const Objective objective : {Objective::kTime, Objective::kEnergy})
    if (text == Name(objective)) return objective;
  return NoSuchWord("objective", text, known);
}

}  // namespace gemmsmith
