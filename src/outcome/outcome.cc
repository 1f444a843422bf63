#include "outcome/outcome.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <span>

namespace gemmsmith {
namespace {

constexpr std::string_view kOutcomeKinds[] = {"illegal",       "compile_failed", "resource_over",
                                              "launch_failed", "timed_out",      "wrong",
                                              "cheated",       "measured",       "verified"};
static_assert(std::size(kOutcomeKinds) == size_t(kLastOutcomeKind) + 1);
constexpr std::string_view kClocks[] = {"device", "offline",     "device_chained", "server",
                                        "host",   "device_cold", "energy",         "device_cold_chained"};
static_assert(std::size(kClocks) == size_t(kLastClock) + 1);
constexpr std::string_view kProtocols[] = {"screen", "short", "heat", "long"};
static_assert(std::size(kProtocols) == size_t(kLastProtocol) + 1);

template <class Enum>
std::optional<Enum> ParseName(std::span<const std::string_view> names, std::string_view name) {
  const auto found = std::find(names.begin(), names.end(), name);
  if (found == names.end()) return std::nullopt;
  return Enum(found - names.begin());
}

}  // namespace

std::string_view Name(OutcomeKind kind) { return kOutcomeKinds[size_t(kind)]; }
std::string_view Name(Clock clock) { return kClocks[size_t(clock)]; }
std::string_view Name(Protocol protocol) { return kProtocols[size_t(protocol)]; }

std::optional<OutcomeKind> ParseOutcomeKind(std::string_view name) {
  return ParseName<OutcomeKind>(kOutcomeKinds, name);
}
std::optional<Clock> ParseClock(std::string_view name) { return ParseName<Clock>(kClocks, name); }
std::optional<Protocol> ParseProtocol(std::string_view name) { return ParseName<Protocol>(kProtocols, name); }

const Timing* Outcome::Find(std::string_view contender, Clock clock) const {
  for (const Timing& timing : timings)
    if (timing.contender == contender && timing.clock == clock) return &timing;
  return nullptr;
}

void Outcome::Withdraw(std::string_view contender) {
  std::erase_if(timings, [&](const Timing& timing) { return timing.contender == contender; });
  std::erase_if(comparisons, [&](const Comparison& comparison) {
    return comparison.contender == contender || comparison.baseline == contender;
  });
}

Clock Outcome::LeadingClock() const {
  const bool on_ring = std::ranges::any_of(timings, [](const Timing& t) { return t.clock == Clock::kDeviceCold; });
  return on_ring ? Clock::kDeviceCold : Clock::kDevice;
}

double Outcome::TimeNs() const {
  GEMMSMITH_CHECK(kind == OutcomeKind::kMeasured, "the time of an outcome that is {}", Name(kind));
  const Timing* ours = Ours();
  GEMMSMITH_CHECK(ours != nullptr, "a measured outcome without a device time of ours");
  return ours->median_ns;
}

std::optional<double> Outcome::TimeOver(std::string_view prefix, Clock clock) const {
  std::vector<double> shares;
  for (const Comparison& comparison : comparisons)
    if (comparison.contender == "ours" && comparison.clock == clock && comparison.baseline.starts_with(prefix) &&
        comparison.ratio.median > 0)
      shares.push_back(1 / comparison.ratio.median);
  if (shares.empty()) return std::nullopt;
  return GeometricMean(shares);
}

double Outcome::Joules() const {
  const Timing* ours = Find("ours", Clock::kEnergy);
  return ours != nullptr && ours->energy ? ours->energy->joules : std::numeric_limits<double>::infinity();
}

const Timing* Outcome::FastestBaseline(std::string_view prefix, Clock clock) const {
  const Timing* fastest = nullptr;
  for (const Timing& timing : timings) {
    if (timing.contender == "ours" || timing.clock != clock || !timing.contender.starts_with(prefix)) continue;
    if (fastest == nullptr || timing.median_ns < fastest->median_ns) fastest = &timing;
  }
  return fastest;
}

void RunConditions::Add(const RunConditions& race) {
  if (sm_clock_mhz == 0) {
    sm_clock_mhz = race.sm_clock_mhz;
    power_watts = race.power_watts;
  }
  discarded_batches += race.discarded_batches;
  limits.Add(race.limits);
  in_steady_state = in_steady_state || race.in_steady_state;
}

bool LooksInSteadyState(const Outcome& outcome) {
  constexpr int kMinBurstSamples = 10;
  constexpr double kLongNs = 300e3;
  const Timing* const fastest = outcome.FastestBaseline("", Clock::kDevice);
  const Timing* const device = fastest != nullptr ? fastest : outcome.Find("ours", Clock::kDevice);
  if (device == nullptr) return false;
  if (outcome.protocol == Protocol::kShort) return device->sample_count < kMinBurstSamples;
  return outcome.protocol == Protocol::kLong && device->median_ns > kLongNs;
}

}  // namespace gemmsmith
