#include <fmt/format.h>

#include "archive/segment.h"
#include "base/text.h"

namespace gemmsmith {
namespace {

struct CsvColumn {
  std::string_view name;
  std::string (*print)(const Trial& trial);
};

std::string Number(double value) { return fmt::format("{}", value); }

const Timing* Ours(const Trial& trial) { return trial.outcome.Find("ours", Clock::kDevice); }
const Timing* Baseline(const Trial& trial) { return trial.outcome.FastestBaseline("", Clock::kDevice); }

const RatioEstimate* RatioToBaseline(const Trial& trial) {
  const Timing* baseline = Baseline(trial);
  for (const Comparison& comparison : trial.outcome.comparisons)
    if (baseline != nullptr && comparison.contender == "ours" && comparison.baseline == baseline->contender &&
        comparison.clock == Clock::kDevice)
      return &comparison.ratio;
  return nullptr;
}

std::string Tflops(const Trial& trial) {
  const Timing* ours = Ours(trial);
  return ours == nullptr || !(ours->median_ns > 0) ? ""
                                                   : Number(2 * trial.gemm.shape.Volume() / ours->median_ns * 1e-3);
}

// A null pointer to a struct has no field to point at.
template <class Struct>
std::string Field(const Struct* record, double Struct::*field) {
  return record == nullptr ? "" : Number(record->*field);
}
template <class Struct>
std::string Bound(const Struct* record, double Interval::*bound) {
  return record == nullptr ? "" : Number(record->interval.*bound);
}

std::string OursOn(const Trial& trial, Clock clock) {
  return Field(trial.outcome.Find("ours", clock), &Timing::median_ns);
}

constexpr CsvColumn kCsvColumns[] = {
    {"unix_ms", [](const Trial& t) { return fmt::format("{}", t.unix_ms); }},
    {"campaign", [](const Trial& t) { return t.campaign; }},
    {"device", [](const Trial& t) { return t.setting.device_key; }},
    {"m", [](const Trial& t) { return fmt::format("{}", t.gemm.shape.m); }},
    {"n", [](const Trial& t) { return fmt::format("{}", t.gemm.shape.n); }},
    {"k", [](const Trial& t) { return fmt::format("{}", t.gemm.shape.k); }},
    {"problem", [](const Trial& t) { return Print(t.gemm); }},
    {"plan", [](const Trial& t) { return Print(t.subject); }},
    {"protocol", [](const Trial& t) { return std::string(Name(t.outcome.protocol)); }},
    {"seed", [](const Trial& t) { return fmt::format("{}", t.seed); }},
    {"kind", [](const Trial& t) { return std::string(Name(t.outcome.kind)); }},
    {"stage", [](const Trial& t) { return t.outcome.stage; }},
    {"reason", [](const Trial& t) { return t.outcome.reason; }},
    {"time_ns", [](const Trial& t) { return Field(Ours(t), &Timing::median_ns); }},
    {"time_low_ns", [](const Trial& t) { return Bound(Ours(t), &Interval::low); }},
    {"time_high_ns", [](const Trial& t) { return Bound(Ours(t), &Interval::high); }},
    {"tflops", Tflops},
    {"baseline", [](const Trial& t) { return Baseline(t) == nullptr ? std::string() : Baseline(t)->contender; }},
    {"baseline_ns", [](const Trial& t) { return Field(Baseline(t), &Timing::median_ns); }},
    {"ratio", [](const Trial& t) { return Field(RatioToBaseline(t), &RatioEstimate::median); }},
    {"ratio_low", [](const Trial& t) { return Bound(RatioToBaseline(t), &Interval::low); }},
    {"ratio_high", [](const Trial& t) { return Bound(RatioToBaseline(t), &Interval::high); }},
    {"registers", [](const Trial& t) { return fmt::format("{}", t.outcome.facts.registers); }},
    {"local_bytes", [](const Trial& t) { return fmt::format("{}", t.outcome.facts.local_bytes); }},
    {"static_smem_bytes", [](const Trial& t) { return fmt::format("{}", t.outcome.facts.static_smem_bytes); }},
    {"code_bytes", [](const Trial& t) { return fmt::format("{}", t.outcome.facts.code_bytes); }},
    {"max_abs_error", [](const Trial& t) { return Number(t.outcome.verdict.max_abs_error); }},
    {"baseline_max_abs_error", [](const Trial& t) { return Number(t.outcome.verdict.baseline_max_abs_error); }},
    {"relative_error", [](const Trial& t) { return Number(t.outcome.verdict.relative_error); }},
    {"sm_clock_mhz", [](const Trial& t) { return fmt::format("{}", t.outcome.conditions.sm_clock_mhz); }},
    {"power_watts", [](const Trial& t) { return Number(t.outcome.conditions.power_watts); }},
    {"driver", [](const Trial& t) { return t.setting.driver; }},
    {"toolchain", [](const Trial& t) { return t.setting.toolchain; }},
    {"libraries", [](const Trial& t) { return t.setting.libraries; }},
    {"harness", [](const Trial& t) { return t.setting.harness; }},
    {"chained_ns", [](const Trial& t) { return OursOn(t, Clock::kDeviceChained); }},
    {"offline_ns", [](const Trial& t) { return OursOn(t, Clock::kOffline); }},
    {"server_ns", [](const Trial& t) { return OursOn(t, Clock::kServer); }},
    {"host_ns", [](const Trial& t) { return OursOn(t, Clock::kHost); }},
    {"cold_ns", [](const Trial& t) { return OursOn(t, Clock::kDeviceCold); }},
    {"clock_limits", [](const Trial& t) { return Print(t.outcome.conditions.limits); }},
    {"observer", [](const Trial& t) { return t.outcome.counters ? t.outcome.counters->observer : std::string(); }},
};

std::string CounterField(const Trial& trial, Counter counter) {
  if (!trial.outcome.counters || !(*trial.outcome.counters)[counter]) return "";
  return Number(*(*trial.outcome.counters)[counter]);
}

// One line a trial: a line break within a field becomes a space.
std::string Quoted(std::string field) {
  for (char& c : field)
    if (c == '\n' || c == '\r') c = ' ';
  if (field.find_first_of(",\"") == std::string::npos) return field;
  std::string quoted = "\"";
  for (char c : field) quoted.append(c == '"' ? 2 : 1, c);
  return quoted + '"';
}

}  // namespace

std::string CsvHeader() {
  std::vector<std::string> names;
  for (const CsvColumn& column : kCsvColumns) names.emplace_back(column.name);
  for (const CounterDefinition& definition : CounterDefinitions()) names.emplace_back(definition.name);
  return Join(names, ",");
}

std::string ToCsvLine(const Trial& trial) {
  std::vector<std::string> fields;
  for (const CsvColumn& column : kCsvColumns) fields.push_back(Quoted(column.print(trial)));
  for (const CounterDefinition& definition : CounterDefinitions())
    fields.push_back(CounterField(trial, definition.counter));
  return Join(fields, ",");
}

}  // namespace gemmsmith
