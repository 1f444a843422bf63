// The judge's answer to a request.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

#include "agents/judge_request.h"
#include "outcome/outcome.h"
#include "outcome/setting.h"

namespace gemmsmith {

enum class JudgeState : uint8_t {
  kPending,  // Accepted, not judged yet.
  kJudged,   // The outcome is the subject's own.
  kUntimed,  // It passed what needs no GPU. No GPU was there to test and time it.
  kFailed,   // The machine failed; nothing is known of the subject.
};
inline constexpr JudgeState kLastJudgeState = JudgeState::kFailed;
std::string_view Name(JudgeState state);  // "pending", "judged", "untimed", "failed"
std::optional<JudgeState> ParseJudgeState(std::string_view name);

struct JudgeResult {
  JudgeState state = JudgeState::kJudged;
  Outcome outcome;            // kJudged; of kUntimed its facts and recipe
  Setting setting;            // kJudged
  std::string recorded_date;  // of a recording that answered; empty: judged here
  std::string compiler_log;   // of a subject that did not compile, at most 8 KiB
  std::string why;            // kUntimed, kFailed
};

// In words for the author of the subject: the outcome, its reason, times and speed-ups.
std::string WordsOf(const JudgeResult& result);
// docs/agents.md documents the keys: "id", "state", "words", then problem and subject, then those of `evaluate --json`.
nlohmann::ordered_json JsonOf(const JudgeResult& result, const JudgeRequest& request, std::string_view id);
// Of a request that is not judged yet.
nlohmann::ordered_json PendingJson(std::string_view id);

}  // namespace gemmsmith
