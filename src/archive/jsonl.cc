#include <nlohmann/json.hpp>

#include "archive/json_fields.h"
#include "archive/segment.h"
#include "archive/sound_trial.h"

namespace gemmsmith {
namespace {

using nlohmann::ordered_json;

constexpr int kJsonVersion = 1;

ordered_json JsonInterval(const Interval& interval) {
  return ordered_json::array({JsonReal(interval.low), JsonReal(interval.high)});
}

ordered_json ToJson(const Setting& setting) {
  return {{"device_key", setting.device_key}, {"device_name", setting.device_name}, {"gpu_uuid", setting.gpu_uuid},
          {"driver", setting.driver},         {"toolchain", setting.toolchain},     {"libraries", setting.libraries},
          {"harness", setting.harness}};
}

void FromJson(JsonFields fields, Setting& setting) {
  fields.Text("device_key", setting.device_key);
  fields.Text("device_name", setting.device_name);
  fields.Text("gpu_uuid", setting.gpu_uuid);
  fields.Text("driver", setting.driver);
  fields.Text("toolchain", setting.toolchain);
  fields.Text("libraries", setting.libraries);
  fields.Text("harness", setting.harness);
}

void FromJson(JsonFields fields, CodeFacts& facts) {
  fields.Integer("registers", facts.registers);
  fields.Integer("local_bytes", facts.local_bytes);
  fields.Integer("static_smem_bytes", facts.static_smem_bytes);
  fields.Integer("code_bytes", facts.code_bytes);
  fields.Integer("instructions", facts.instructions);
  fields.Integer("local_memory_instructions", facts.local_memory_instructions);
  fields.Integer("mma_f32", facts.mma_f32);
  fields.Integer("mma_f16", facts.mma_f16);
  fields.Integer("wgmma_f32", facts.wgmma_f32);
  fields.Integer("wgmma_f16", facts.wgmma_f16);
}

ordered_json ToJson(const Verdict& verdict) {
  return {{"passed", verdict.passed},
          {"test", verdict.test},
          {"explanation", verdict.explanation},
          {"max_abs_error", JsonReal(verdict.max_abs_error)},
          {"baseline_max_abs_error", JsonReal(verdict.baseline_max_abs_error)},
          {"relative_error", JsonReal(verdict.relative_error)}};
}

void FromJson(JsonFields fields, Verdict& verdict) {
  fields.Flag("passed", verdict.passed);
  fields.Text("test", verdict.test);
  fields.Text("explanation", verdict.explanation);
  fields.Real("max_abs_error", verdict.max_abs_error);
  fields.Real("baseline_max_abs_error", verdict.baseline_max_abs_error);
  fields.Real("relative_error", verdict.relative_error);
}

ordered_json ToJson(const Energy& energy) {
  return {{"joules", JsonReal(energy.joules)},
          {"interval_joules", JsonInterval(energy.interval)},
          {"watts", JsonReal(energy.watts)},
          {"sm_clock_mhz", JsonReal(energy.sm_clock_mhz)}};
}

void FromJson(JsonFields fields, Energy& energy) {
  fields.Real("joules", energy.joules);
  fields.Pair("interval_joules", energy.interval.low, energy.interval.high);
  fields.Real("watts", energy.watts);
  fields.Real("sm_clock_mhz", energy.sm_clock_mhz);
}

ordered_json ToJson(const Timing& timing) {
  ordered_json json = {{"contender", timing.contender},
                       {"clock", Name(timing.clock)},
                       {"median_ns", JsonReal(timing.median_ns)},
                       {"mean_ns", JsonReal(timing.mean_ns)},
                       {"interval_ns", JsonInterval(timing.interval)},
                       {"sample_count", timing.sample_count}};
  for (float sample : timing.samples_ns) json["samples_ns"].push_back(JsonReal(double(sample)));
  if (timing.energy) json["energy"] = ToJson(*timing.energy);
  return json;
}

void FromJson(JsonFields& fields, Timing& timing) {
  fields.Text("contender", timing.contender);
  fields.Parsed("clock", timing.clock, ParseClock);
  fields.Real("median_ns", timing.median_ns);
  fields.Real("mean_ns", timing.mean_ns);
  fields.Pair("interval_ns", timing.interval.low, timing.interval.high);
  fields.Integer("sample_count", timing.sample_count);
  fields.Floats("samples_ns", timing.samples_ns);
  fields.OptionalObject("energy", timing.energy, [](JsonFields item, Energy& energy) { FromJson(item, energy); });
}

ordered_json ToJson(const Comparison& comparison) {
  ordered_json json = {{"baseline", comparison.baseline},
                       {"clock", Name(comparison.clock)},
                       {"median", JsonReal(comparison.ratio.median)},
                       {"mean", JsonReal(comparison.ratio.mean)},
                       {"interval", JsonInterval(comparison.ratio.interval)},
                       {"pairs", comparison.ratio.pairs}};
  if (comparison.contender != Comparison().contender) json["contender"] = comparison.contender;
  return json;
}

void FromJson(JsonFields& fields, Comparison& comparison) {
  fields.Text("baseline", comparison.baseline);
  fields.Parsed("clock", comparison.clock, ParseClock);
  fields.Real("median", comparison.ratio.median);
  fields.Real("mean", comparison.ratio.mean);
  fields.Pair("interval", comparison.ratio.interval.low, comparison.ratio.interval.high);
  fields.Integer("pairs", comparison.ratio.pairs);
  if (fields.Has("contender")) fields.Text("contender", comparison.contender);
}

using BaselineAlgorithm = std::pair<std::string, std::string>;

ordered_json ToJson(const BaselineAlgorithm& algorithm) {
  return {{"baseline", algorithm.first}, {"algorithm", algorithm.second}};
}

void FromJson(JsonFields& fields, BaselineAlgorithm& algorithm) {
  fields.Text("baseline", algorithm.first);
  fields.Text("algorithm", algorithm.second);
}

ordered_json ToJson(const RunConditions& conditions) {
  return {{"sm_clock_mhz", conditions.sm_clock_mhz},
          {"power_watts", JsonReal(conditions.power_watts)},
          {"discarded_batches", conditions.discarded_batches},
          {"power_capped", conditions.limits.Has(ClockLimit::kPowerCap)},
          {"clock_limits", Print(conditions.limits)},
          {"is_settled", conditions.is_settled}};
}

void FromJson(JsonFields fields, RunConditions& conditions) {
  fields.Integer("sm_clock_mhz", conditions.sm_clock_mhz);
  fields.Real("power_watts", conditions.power_watts);
  fields.Integer("discarded_batches", conditions.discarded_batches);
  bool is_capped = false;
  fields.Flag("power_capped", is_capped);
  if (fields.Has("clock_limits")) fields.Parsed("clock_limits", conditions.limits, ParseClockLimits);
  if (is_capped) conditions.limits.Add(ClockLimit::kPowerCap);
  if (fields.Has("is_settled")) fields.Flag("is_settled", conditions.is_settled);
}

ordered_json ToJson(const Counters& counters) {
  ordered_json json = {{"observer", counters.observer}, {"lacks", counters.lacks}};
  for (const CounterDefinition& definition : CounterDefinitions())
    if (const auto& value = counters[definition.counter]) json[std::string(definition.name)] = JsonReal(*value);
  return json;
}

void FromJson(JsonFields fields, Counters& counters) {
  fields.Text("observer", counters.observer);
  fields.Text("lacks", counters.lacks);
  for (const CounterDefinition& definition : CounterDefinitions())
    fields.OptionalReal(std::string(definition.name).c_str(), counters[definition.counter]);
}

template <class Item>
ordered_json ToJsonList(const std::vector<Item>& items) {
  ordered_json list = ordered_json::array();
  for (const Item& item : items) list.push_back(ToJson(item));
  return list;
}

ordered_json ToJson(const Outcome& outcome) {
  ordered_json json = {{"kind", Name(outcome.kind)},
                       {"stage", outcome.stage},
                       {"reason", outcome.reason},
                       {"protocol", Name(outcome.protocol)},
                       {"facts", JsonFacts(outcome.facts)},
                       {"verdict", ToJson(outcome.verdict)},
                       {"timings", ToJsonList(outcome.timings)},
                       {"comparisons", ToJsonList(outcome.comparisons)},
                       {"conditions", ToJson(outcome.conditions)},
                       {"baseline_algorithms", ToJsonList(outcome.baseline_algorithms)},
                       {"compile_seconds", JsonReal(outcome.compile_seconds)},
                       {"evaluate_seconds", JsonReal(outcome.evaluate_seconds)}};
  if (outcome.counters) json["counters"] = ToJson(*outcome.counters);
  return json;
}

void FromJson(JsonFields fields, Outcome& outcome) {
  fields.Parsed("kind", outcome.kind, ParseOutcomeKind);
  fields.Text("stage", outcome.stage);
  fields.Text("reason", outcome.reason);
  fields.Parsed("protocol", outcome.protocol, ParseProtocol);
  FromJson(fields.Object("facts"), outcome.facts);
  FromJson(fields.Object("verdict"), outcome.verdict);
  fields.List("timings", outcome.timings, [](JsonFields& item, Timing& timing) { FromJson(item, timing); });
  fields.List("comparisons", outcome.comparisons,
              [](JsonFields& item, Comparison& comparison) { FromJson(item, comparison); });
  const JsonFields conditions = fields.Object("conditions");
  FromJson(conditions, outcome.conditions);
  if (!conditions.Has("is_settled")) outcome.conditions.is_settled = LooksSettled(outcome);
  fields.List("baseline_algorithms", outcome.baseline_algorithms,
              [](JsonFields& item, BaselineAlgorithm& algorithm) { FromJson(item, algorithm); });
  fields.Real("compile_seconds", outcome.compile_seconds);
  fields.Real("evaluate_seconds", outcome.evaluate_seconds);
  fields.OptionalObject("counters", outcome.counters,
                        [](JsonFields item, Counters& counters) { FromJson(item, counters); });
}

}  // namespace

std::string ToJsonLine(const Trial& trial) {
  Outcome outcome = trial.outcome;
  KeepRecordedSamples(outcome, true);
  const ordered_json line = {
      {"gemmsmith_trial", kJsonVersion},  {"problem", Print(trial.gemm)}, {"plan", Print(trial.subject)},
      {"campaign", trial.campaign},       {"seed", trial.seed},           {"unix_ms", trial.unix_ms},
      {"setting", ToJson(trial.setting)}, {"outcome", ToJson(outcome)}};
  // What a compiler or a kernel's name holds may be no UTF-8.
  return line.dump(-1, ' ', false, ordered_json::error_handler_t::replace);
}

Result<Trial> FromJsonLine(std::string_view line) {
  if (line.size() > kMaxJsonLineBytes) return InvalidArgument("the line is over 1 MiB");
  const nlohmann::json json = nlohmann::json::parse(line, nullptr, false);
  if (json.is_discarded()) return InvalidArgument("the line is not JSON");
  if (!json.is_object()) return InvalidArgument("the line is not a JSON object");
  Status status = OkStatus();
  JsonFields fields(json, "", status);
  int version = kJsonVersion;
  fields.Integer("gemmsmith_trial", version);
  if (status.ok() && version != kJsonVersion)
    return InvalidArgument(
        fmt::format("field gemmsmith_trial: version {} is unknown, known is {}", version, kJsonVersion));
  Trial trial;
  fields.Parsed("problem", trial.gemm, ParseGemm);
  fields.Parsed("plan", trial.subject, ParseTrialSubject);
  fields.Text("campaign", trial.campaign);
  fields.Integer("seed", trial.seed);
  fields.Integer("unix_ms", trial.unix_ms);
  FromJson(fields.Object("setting"), trial.setting);
  FromJson(fields.Object("outcome"), trial.outcome);
  RETURN_IF_ERROR(status);
  RETURN_IF_ERROR(CheckTimes(trial.outcome));
  RETURN_IF_ERROR(CheckNames(trial));
  return trial;
}

}  // namespace gemmsmith
