#include "agents/judge_result.h"

#include <fmt/format.h>

#include <array>
#include <nlohmann/json.hpp>
#include <optional>

#include "archive/json_text.h"
#include "archive/standings.h"
#include "archive/trial_subject.h"
#include "program/recipe.h"

namespace gemmsmith {
namespace {

constexpr std::array<std::string_view, 4> kStateNames = {"pending", "judged", "untimed", "failed"};

bool HasPassed(const Outcome& outcome) {
  return outcome.kind == OutcomeKind::kMeasured || outcome.kind == OutcomeKind::kVerified;
}

// Against the variant of a baseline that is hardest to beat, on the leading clock.
std::optional<Comparison> HardestOf(const Outcome& outcome, std::string_view prefix) {
  std::optional<Comparison> hardest;
  for (const Comparison& comparison : outcome.comparisons)
    if (comparison.contender == "ours" && comparison.clock == outcome.LeadingClock() &&
        comparison.baseline.starts_with(prefix) && (!hardest || comparison.ratio.median < hardest->ratio.median))
      hardest = comparison;
  return hardest;
}

struct NamedBaseline {
  const char *key, *prefix, *words;
};
constexpr NamedBaseline kBaselines[] = {{"over_autotuning", "lt_auto", "cuBLASLt AutoTuning"},
                                        {"over_heuristic", "lt_heuristic", "cuBLASLt's heuristic"},
                                        {"over_cublas", "cublas", "cuBLAS"}};

Json SpeedUpsOf(const Outcome& outcome) {
  Json json = Json::object();
  for (const NamedBaseline& baseline : kBaselines) {
    const std::optional<Comparison> hardest = HardestOf(outcome, baseline.prefix);
    json[baseline.key] = hardest ? Json(hardest->ratio.median) : Json();
  }
  return json;
}

std::string TimesInWords(const Outcome& outcome) {
  const Timing* const ours = outcome.Ours();
  if (ours == nullptr) return "";
  std::string words = fmt::format(", {:.3f} us on the clock {}", ours->median_ns / 1e3, Name(outcome.LeadingClock()));
  for (const NamedBaseline& baseline : kBaselines)
    if (const std::optional<Comparison> hardest = HardestOf(outcome, baseline.prefix))
      words += fmt::format("; {:.3f}x {} [{:.3f} to {:.3f}]", hardest->ratio.median, baseline.words,
                           hardest->ratio.interval.low, hardest->ratio.interval.high);
  return words;
}

std::string OutcomeInWords(const JudgeResult& result) {
  const Outcome& outcome = result.outcome;
  std::string words(Name(outcome.kind));
  if (!HasPassed(outcome)) return fmt::format("{} at {}: {}", words, outcome.stage, outcome.reason);
  words += TimesInWords(outcome);
  if (!result.recorded_date.empty()) words += fmt::format("; from a recording of {}", result.recorded_date);
  return words;
}

std::string LaunchesInWords(const Outcome& outcome) {
  const Result<Recipe> recipe = ParseRecipe(outcome.recipe);
  if (!recipe.ok()) return "it compiles";
  return fmt::format("it builds, its machine code passed the screening, and its launches were recorded ({} a call)",
                     recipe->steps.size());
}

}  // namespace

std::string_view Name(JudgeState state) { return kStateNames[size_t(state)]; }

std::optional<JudgeState> ParseJudgeState(std::string_view name) {
  for (size_t i = 0; i < kStateNames.size(); ++i)
    if (kStateNames[i] == name) return JudgeState(i);
  return std::nullopt;
}

std::string WordsOf(const JudgeResult& result) {
  switch (result.state) {
    case JudgeState::kPending:
      return "not judged yet";
    case JudgeState::kJudged:
      return OutcomeInWords(result);
    case JudgeState::kUntimed:
      return fmt::format("not tested and not timed: {}; {}. This says neither right nor wrong.",
                         LaunchesInWords(result.outcome), result.why);
    case JudgeState::kFailed:
      return fmt::format("the judge's machine failed, which says nothing of the subject: {}", result.why);
  }
  return "";
}

Json JsonOf(const JudgeResult& result, const JudgeRequest& request, std::string_view id) {
  Json json = {{"id", id},
               {"state", Name(result.state)},
               {"words", WordsOf(result)},
               {"problem", Print(request.gemm)},
               {"subject", Print(SubjectOf(request.subject))}};
  if (result.state == JudgeState::kFailed) return json;
  if (!result.compiler_log.empty()) json["compiler_log"] = result.compiler_log;
  Json outcome = JsonOf(result.outcome);
  if (result.state == JudgeState::kUntimed) {
    json["facts"] = outcome["facts"], json["recipe"] = outcome["recipe"];
    return json;
  }
  json["passed"] = HasPassed(result.outcome);
  json["speed_ups"] = SpeedUpsOf(result.outcome);
  json["recorded_date"] = result.recorded_date.empty() ? Json() : Json(result.recorded_date);
  json["setting"] = JsonOf(result.setting);
  json.update(outcome);
  return json;
}

Json PendingJson(std::string_view id) {
  return {{"id", id},
          {"state", Name(JudgeState::kPending)},
          {"words", "not judged yet: ask again for this id, or send the same request again"}};
}

}  // namespace gemmsmith
