#include "llm/source_judge.h"

#include <chrono>
#include <nlohmann/json.hpp>

#include "agents/bounded_json.h"

namespace gemmsmith {

using Json = nlohmann::ordered_json;

Result<std::vector<Json>> QueueJudge::Judge(const std::vector<JudgeRequest>& requests) {
  ASSIGN_OR_RETURN(const Submission submission, queue_.Submit(requests));
  if (submission.is_full) return Unavailable("the judge's queue is full");
  std::vector<Json> verdicts;
  for (const std::string& id : submission.ids) {
    std::optional<JudgeAnswer> answer;
    do {
      if (stop_ && stop_()) return Interrupted("stopped while sources were judged");
      ASSIGN_OR_RETURN(answer, queue_.Wait(id, std::chrono::milliseconds(200)));
    } while (!answer || answer->state == JudgeState::kPending);
    ASSIGN_OR_RETURN(Json verdict, ParseBoundedJson(answer->json));
    verdicts.push_back(std::move(verdict));
  }
  return verdicts;
}

}  // namespace gemmsmith
