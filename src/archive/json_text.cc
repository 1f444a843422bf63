#include "archive/json_text.h"

#include <nlohmann/json.hpp>

#include "archive/json_fields.h"

namespace gemmsmith {

std::string PrintJson(const Json& json) { return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n"; }

Json JsonOf(const Gemm& gemm) {
  return {{"problem", Print(gemm)},
          {"shape", Print(gemm.shape)},
          {"m", gemm.shape.m},
          {"n", gemm.shape.n},
          {"k", gemm.shape.k},
          {"layout", Name(gemm.kind.layout)},
          {"type", Name(gemm.kind.type)},
          {"accumulation", Name(gemm.kind.accumulation)},
          {"constant_b", gemm.kind.constant_b},
          {"lda", gemm.LeadingA()},
          {"ldb", gemm.LeadingB()},
          {"ldc", gemm.LeadingC()}};
}

Json JsonOf(const Interval& interval) { return Json::array({interval.low, interval.high}); }

Json JsonOf(const Energy& energy) {
  return {{"joules", energy.joules},
          {"interval_joules", JsonOf(energy.interval)},
          {"watts", energy.watts},
          {"sm_clock_mhz", energy.sm_clock_mhz}};
}

Json JsonOf(const Timing& timing) {
  Json json = {{"contender", timing.contender},          {"clock", Name(timing.clock)},
               {"median_ns", timing.median_ns},          {"mean_ns", timing.mean_ns},
               {"interval_ns", JsonOf(timing.interval)}, {"samples", timing.sample_count}};
  if (timing.energy) json["energy"] = JsonOf(*timing.energy);
  return json;
}

Json JsonOf(const Comparison& comparison) {
  return {{"baseline", comparison.baseline},  {"clock", Name(comparison.clock)},
          {"ratio", comparison.ratio.median}, {"interval", JsonOf(comparison.ratio.interval)},
          {"pairs", comparison.ratio.pairs},  {"contender", comparison.contender}};
}

Json JsonOf(const Setting& setting) {
  return {{"device", setting.device_key}, {"device_name", setting.device_name}, {"gpu_uuid", setting.gpu_uuid},
          {"driver", setting.driver},     {"toolchain", setting.toolchain},     {"libraries", setting.libraries},
          {"harness", setting.harness}};
}

Json JsonOf(const std::optional<Counters>& counters) {
  if (!counters) return nullptr;
  Json json = {{"observer", counters->observer}, {"lacks", counters->lacks}};
  for (const CounterDefinition& definition : CounterDefinitions()) {
    const std::optional<double>& value = (*counters)[definition.counter];
    json[std::string(definition.name)] = value ? Json(*value) : Json();
  }
  return json;
}

Json JsonOf(const Outcome& outcome) {
  Json timings = Json::array(), comparisons = Json::array(), algorithms = Json::object();
  for (const auto& [baseline, algorithm] : outcome.baseline_algorithms) algorithms[baseline] = algorithm;
  for (const Timing& timing : outcome.timings) timings.push_back(JsonOf(timing));
  for (const Comparison& comparison : outcome.comparisons) comparisons.push_back(JsonOf(comparison));
  return {{"outcome", Name(outcome.kind)},
          {"stage", outcome.stage},
          {"reason", outcome.reason},
          {"protocol", Name(outcome.protocol)},
          {"facts", JsonFacts(outcome.facts)},
          {"verdict",
           {{"passed", outcome.verdict.passed},
            {"test", outcome.verdict.test},
            {"explanation", outcome.verdict.explanation},
            {"max_abs_error", outcome.verdict.max_abs_error},
            {"baseline_max_abs_error", outcome.verdict.baseline_max_abs_error},
            {"relative_error", outcome.verdict.relative_error},
            {"within_baselines",
             outcome.verdict.baseline_max_abs_error > 0 ? Json(outcome.verdict.IsWithinBaselines()) : Json()}}},
          {"timings", timings},
          {"comparisons", comparisons},
          {"baseline_algorithms", algorithms},
          {"conditions",
           {{"sm_clock_mhz", outcome.conditions.sm_clock_mhz},
            {"power_watts", outcome.conditions.power_watts},
            {"discarded_batches", outcome.conditions.discarded_batches},
            {"power_capped", outcome.conditions.limits.Has(ClockLimit::kPowerCap)},
            {"clock_limits", Print(outcome.conditions.limits)},
            {"is_settled", outcome.conditions.in_steady_state}}},
          {"counters", JsonOf(outcome.counters)},
          {"recipe", outcome.recipe}};
}

Json JsonOf(const std::vector<std::pair<OutcomeKind, int>>& by_outcome) {
  Json json = Json::object();
  for (const auto& [kind, count] : by_outcome) json[std::string(Name(kind))] = count;
  return json;
}

}  // namespace gemmsmith
