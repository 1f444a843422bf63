#include "evaluate/outcome.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <span>

#include "base/bytes.h"

namespace gemmsmith {
namespace {

// What is newer than a version stands behind `if (coder.Has(version))`, so that older records stay readable.
// Version 1 had no counters, no records of single tests, no launched kernels and no contender but ours.
// Version 3 knew no energies.
// Version 2 knew of no other limit of the clocks than the power cap, and did not say whether a race was settled.
constexpr uint8_t kVersion = 4;

constexpr std::string_view kKinds[] = {"illegal", "compile_failed", "resource_over", "launch_failed", "timed_out",
                                       "wrong",   "cheated",        "measured",      "verified"};
static_assert(std::size(kKinds) == size_t(kLastOutcomeKind) + 1);
constexpr std::string_view kClocks[] = {"device", "offline",     "device_chained", "server",
                                        "host",   "device_cold", "energy"};
static_assert(std::size(kClocks) == size_t(kLastClock) + 1);
constexpr std::string_view kProtocols[] = {"screen", "short", "heat", "long"};
static_assert(std::size(kProtocols) == size_t(kLastProtocol) + 1);

template <class Enum>
std::optional<Enum> ParseName(std::span<const std::string_view> names, std::string_view name) {
  const auto found = std::find(names.begin(), names.end(), name);
  if (found == names.end()) return std::nullopt;
  return Enum(found - names.begin());
}

// Encoder and Decoder have the same shape, so that Fields() below says once what is stored in which order.
class Encoder {
 public:
  bool Has(uint8_t /*version*/) const { return true; }
  void Number(const auto& value) { writer_.Put(value); }
  void Text(const std::string& text) { writer_.PutString(text); }
  void Flag(bool flag) { writer_.Put(uint8_t(flag)); }
  template <class Enum>
  void Choice(Enum value, std::span<const std::string_view> names) {
    GEMMSMITH_CHECK(size_t(value) < names.size(), "value {} of {}", int(value), names.size());
    writer_.Put(value);
  }
  void Floats(const std::vector<float>& floats) { writer_.PutVector(floats); }
  void Bits(uint64_t bits, size_t /*count*/) { writer_.Put(bits); }
  template <class Item>
  void Optional(std::optional<Item>& item, auto&& fields) {
    writer_.Put(uint8_t(item.has_value()));
    if (item) fields(*item);
  }
  template <class Item>
  void List(std::vector<Item>& items, auto&& fields) {
    writer_.Put(uint32_t(items.size()));
    for (Item& item : items) fields(item);
  }
  std::string Take() && { return std::move(writer_).Take(); }

 private:
  ByteWriter writer_;
};

class Decoder {
 public:
  Decoder(uint8_t version, std::string_view bytes) : version_(version), reader_(bytes) {}
  bool Has(uint8_t version) const { return version_ >= version; }

  template <class T>
  void Number(T& value) {
    value = reader_.Get<T>();
  }
  void Text(std::string& text) { text = reader_.GetString(); }
  void Flag(bool& flag) {
    const uint8_t byte = reader_.Get<uint8_t>();
    in_range_ = in_range_ && byte <= 1;
    flag = byte == 1;
  }
  template <class Enum>
  void Choice(Enum& value, std::span<const std::string_view> names) {
    const uint8_t byte = reader_.Get<uint8_t>();
    in_range_ = in_range_ && byte < names.size();
    value = in_range_ ? Enum(byte) : Enum();
  }
  void Floats(std::vector<float>& floats) { floats = reader_.GetVector<float>(); }
  void Bits(uint64_t& bits, size_t count) {
    bits = reader_.Get<uint64_t>();
    in_range_ = in_range_ && bits >> count == 0;
    if (!in_range_) bits = 0;
  }
  template <class Item>
  void Optional(std::optional<Item>& item, auto&& fields) {
    bool given = false;
    Flag(given);
    if (given) fields(item.emplace());
  }
  // Every item takes bytes, so the list never grows beyond the input.
  template <class Item>
  void List(std::vector<Item>& items, auto&& fields) {
    const uint32_t count = reader_.Get<uint32_t>();
    for (uint32_t i = 0; i < count && !reader_.failed(); ++i) fields(items.emplace_back());
  }

  Status Finish() const {
    if (reader_.failed()) return DataLoss("the encoded outcome is truncated");
    if (!in_range_) return DataLoss("the encoded outcome holds a value out of range");
    if (reader_.remaining() != 0) return DataLoss("the encoded outcome has bytes after its end");
    return OkStatus();
  }

 private:
  const uint8_t version_;
  ByteReader reader_;
  bool in_range_ = true;
};

void Fields(auto& coder, Interval& interval) {
  coder.Number(interval.low);
  coder.Number(interval.high);
}

void Fields(auto& coder, CodeFacts& facts) {
  for (int* number :
       {&facts.registers, &facts.local_bytes, &facts.static_smem_bytes, &facts.code_bytes, &facts.instructions,
        &facts.local_memory_instructions, &facts.mma_f32, &facts.mma_f16, &facts.wgmma_f32, &facts.wgmma_f16})
    coder.Number(*number);
}

void Fields(auto& coder, Verdict& verdict) {
  coder.Flag(verdict.passed);
  coder.Text(verdict.test);
  coder.Text(verdict.explanation);
  for (double* error : {&verdict.max_abs_error, &verdict.baseline_max_abs_error, &verdict.relative_error})
    coder.Number(*error);
}

void Fields(auto& coder, TestRecord& record) {
  coder.Text(record.test);
  coder.Flag(record.passed);
  for (double* number : {&record.max_abs_error, &record.bound, &record.seconds}) coder.Number(*number);
}

void Fields(auto& coder, Timing& timing) {
  coder.Text(timing.contender);
  coder.Choice(timing.clock, kClocks);
  coder.Number(timing.median_ns);
  coder.Number(timing.mean_ns);
  Fields(coder, timing.interval);
  coder.Number(timing.sample_count);
  coder.Floats(timing.samples_ns);
}

void Fields(auto& coder, Comparison& comparison) {
  coder.Text(comparison.baseline);
  coder.Choice(comparison.clock, kClocks);
  coder.Number(comparison.ratio.median);
  coder.Number(comparison.ratio.mean);
  Fields(coder, comparison.ratio.interval);
  coder.Number(comparison.ratio.pairs);
  if (coder.Has(2)) coder.Text(comparison.contender);
}

void Fields(auto& coder, RunConditions& conditions) {
  coder.Number(conditions.sm_clock_mhz);
  coder.Number(conditions.power_watts);
  coder.Number(conditions.discarded_batches);
  bool is_capped = conditions.limits.Has(ClockLimit::kPowerCap);
  coder.Flag(is_capped);
  if (is_capped) conditions.limits.Add(ClockLimit::kPowerCap);
}

// What conditions have had since version 3.
void NewerFields(auto& coder, RunConditions& conditions) {
  uint64_t limits = conditions.limits.NewerBits();
  coder.Bits(limits, ClockLimits::kNewerCount);
  conditions.limits.AddNewerBits(limits);
  coder.Flag(conditions.is_settled);
}

void Fields(auto& coder, Energy& energy) {
  coder.Number(energy.joules);
  Fields(coder, energy.interval);
  coder.Number(energy.watts);
  coder.Number(energy.sm_clock_mhz);
}

void Fields(auto& coder, Counters& counters) {
  coder.Text(counters.observer);
  coder.Text(counters.lacks);
  uint64_t present = counters.PresentBits();
  coder.Bits(present, kCounterCount);
  counters.MarkPresent(present);
  for (size_t i = 0; i < kCounterCount; ++i)
    if (std::optional<double>& value = counters[Counter(i)]) coder.Number(*value);
}

void Fields(auto& coder, Outcome& outcome) {
  coder.Choice(outcome.kind, kKinds);
  coder.Text(outcome.stage);
  coder.Text(outcome.reason);
  Fields(coder, outcome.facts);
  Fields(coder, outcome.verdict);
  coder.Choice(outcome.protocol, kProtocols);
  coder.List(outcome.timings, [&](Timing& timing) { Fields(coder, timing); });
  coder.List(outcome.comparisons, [&](Comparison& comparison) { Fields(coder, comparison); });
  Fields(coder, outcome.conditions);
  coder.List(outcome.baseline_algorithms, [&](std::pair<std::string, std::string>& algorithm) {
    coder.Text(algorithm.first);
    coder.Text(algorithm.second);
  });
  coder.Number(outcome.compile_seconds);
  coder.Number(outcome.evaluate_seconds);
  if (!coder.Has(2)) return;
  coder.List(outcome.verdict.tests, [&](TestRecord& record) { Fields(coder, record); });
  coder.List(outcome.kernels, [&](LaunchedKernel& kernel) {
    coder.Text(kernel.name);
    coder.Number(kernel.launches);
  });
  coder.Text(outcome.observer);
  coder.Optional(outcome.counters, [&](Counters& counters) { Fields(coder, counters); });
  if (coder.Has(3)) NewerFields(coder, outcome.conditions);
  if (!coder.Has(4)) return;
  for (Timing& timing : outcome.timings)
    if (timing.clock == Clock::kEnergy) coder.Optional(timing.energy, [&](Energy& energy) { Fields(coder, energy); });
}

}  // namespace

std::string_view Name(OutcomeKind kind) { return kKinds[size_t(kind)]; }
std::string_view Name(Clock clock) { return kClocks[size_t(clock)]; }
std::string_view Name(Protocol protocol) { return kProtocols[size_t(protocol)]; }

std::optional<OutcomeKind> ParseOutcomeKind(std::string_view name) { return ParseName<OutcomeKind>(kKinds, name); }
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

double Outcome::TimeNs() const {
  GEMMSMITH_CHECK(kind == OutcomeKind::kMeasured, "the time of an outcome that is {}", Name(kind));
  const Timing* ours = Find("ours", Clock::kDevice);
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
  is_settled = is_settled || race.is_settled;
}

bool LooksSettled(const Outcome& outcome) {
  constexpr int kFewestUnsettled = 10;
  constexpr double kLongNs = 300e3;
  const Timing* const fastest = outcome.FastestBaseline("", Clock::kDevice);
  const Timing* const device = fastest != nullptr ? fastest : outcome.Find("ours", Clock::kDevice);
  if (device == nullptr) return false;
  if (outcome.protocol == Protocol::kShort) return device->sample_count < kFewestUnsettled;
  return outcome.protocol == Protocol::kLong && device->median_ns > kLongNs;
}

std::string EncodeOutcome(const Outcome& outcome) {
  Encoder encoder;
  encoder.Number(kVersion);
  Outcome copy = outcome;  // Fields() speaks of what may be written
  Fields(encoder, copy);
  return std::move(encoder).Take();
}

Result<Outcome> DecodeOutcome(std::string_view bytes) {
  if (bytes.empty()) return DataLoss("the encoded outcome is empty");
  const uint8_t version = uint8_t(bytes[0]);
  if (version < 1 || version > kVersion)
    return DataLoss(fmt::format("the encoded outcome is of version {}, known is {}", version, kVersion));
  Decoder decoder(version, bytes.substr(1));
  Outcome outcome;
  Fields(decoder, outcome);
  RETURN_IF_ERROR(decoder.Finish());
  if (!decoder.Has(3)) outcome.conditions.is_settled = LooksSettled(outcome);
  return outcome;
}

}  // namespace gemmsmith
