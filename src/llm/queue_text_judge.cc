#include "llm/queue_text_judge.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "llm/reward_http.h"
#include "llm/source_verdict.h"

namespace gemmsmith {

Result<JudgedText> JudgedTextOf(const nlohmann::ordered_json& json) {
  ASSIGN_OR_RETURN(const SourceVerdict verdict, ReadSourceVerdict(json));
  const std::optional<double> reward = RewardOf(json);
  const std::optional<OutcomeKind> kind = ParseOutcomeKind(verdict.outcome);
  if (!reward || !kind) return Unavailable(fmt::format("no reward: {}", verdict.words));
  return JudgedText{.kind = *kind,
                    .reward = *reward,
                    .speed_up = verdict.speed_up,
                    .time_ns = verdict.is_timed ? std::optional(verdict.time_ns) : std::nullopt};
}

Result<std::vector<std::vector<JudgedText>>> QueueTextJudge::Judge(std::span<const WrittenTexts> written) {
  std::vector<JudgeRequest> requests;
  for (const WrittenTexts& texts : written)
    for (const std::string& source : texts.sources)
      requests.push_back({.gemm = texts.gemm,
                          .subject = FreeForm{.name = "written.cu", .text = source},
                          .protocol = Protocol::kScreen});
  ASSIGN_OR_RETURN(const std::vector<nlohmann::ordered_json> verdicts, judge_.Judge(requests));
  std::vector<std::vector<JudgedText>> judged(written.size());
  size_t next = 0;
  for (size_t i = 0; i < written.size(); ++i)
    for (size_t j = 0; j < written[i].sources.size(); ++j) {
      ASSIGN_OR_RETURN(JudgedText one, JudgedTextOf(verdicts[next++]));
      judged[i].push_back(one);
    }
  return judged;
}

}  // namespace gemmsmith
