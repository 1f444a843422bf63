#include "llm/source_verdict.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "agents/judge_result.h"

namespace gemmsmith {

using Json = nlohmann::ordered_json;

namespace {

std::string FactsIn(const Json& json) {
  Json facts = Json::object();
  for (const char* name : {"facts", "counters"})
    if (json.contains(name) && !json[name].is_null()) facts[name] = json[name];
  return facts.empty() ? "" : facts.dump();
}

// Ours on the leading clock.
std::optional<double> TimeIn(const Json& timings) {
  for (const Clock clock : {Clock::kDeviceCold, Clock::kDevice})
    for (const Json& timing : timings)
      if (timing.at("contender") == "ours" && timing.at("clock") == Name(clock))
        return timing.at("median_ns").get<double>();
  return std::nullopt;
}

}  // namespace

Result<SourceVerdict> ReadSourceVerdict(const Json& json) try {
  const std::optional<JudgeState> state = ParseJudgeState(json.at("state").get<std::string>());
  SourceVerdict verdict{.words = json.at("words").get<std::string>(), .facts = FactsIn(json)};
  if (!state || *state == JudgeState::kPending) return DataLoss(fmt::format("no verdict: {}", verdict.words));
  if (*state == JudgeState::kFailed) return Unavailable(verdict.words);
  if (*state == JudgeState::kUntimed) {
    verdict.has_passed = true, verdict.outcome = Name(*state);
    return verdict;
  }
  verdict.outcome = json.at("outcome").get<std::string>();
  verdict.has_passed = json.at("passed").get<bool>();
  verdict.compiler_log = json.contains("compiler_log") ? json["compiler_log"].get<std::string>() : "";
  const Json& speed_up = json.at("speed_ups").at("over_autotuning");
  if (speed_up.is_number()) verdict.speed_up = speed_up.get<double>();
  if (const std::optional<double> time_ns = TimeIn(json.at("timings")); time_ns && verdict.has_passed)
    verdict.is_timed = true, verdict.time_ns = *time_ns;
  return verdict;
} catch (const Json::exception& error) {
  return DataLoss(fmt::format("no verdict: {}", error.what()));
}

}  // namespace gemmsmith
