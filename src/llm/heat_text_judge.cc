#include "llm/heat_text_judge.h"

#include <nlohmann/json.hpp>
#include <numeric>
#include <variant>

#include "base/all_cores.h"
#include "base/run_workers.h"
#include "llm/queue_text_judge.h"

namespace gemmsmith {

Result<std::vector<JudgedText>> HeatTextJudge::Race(size_t gpu, const WrittenTexts& texts) {
  std::vector<JudgeRequest> requests;
  for (const std::string& source : texts.sources)
    requests.push_back({.gemm = texts.gemm, .subject = FreeForm{.name = "written.cu", .text = source}});
  std::vector<std::variant<JudgeResult, Candidate>> prepared(requests.size());
  ForEachOnAllCores(requests.size(), [&](size_t i) { prepared[i] = judge_.Prepare(requests[i]); });
  std::vector<Candidate> candidates;
  for (auto& one : prepared)
    if (Candidate* const candidate = std::get_if<Candidate>(&one)) candidates.push_back(std::move(*candidate));
  std::vector<JudgeResult> timed;
  if (!candidates.empty()) timed = judge_.Time(gpu, std::move(candidates));
  std::vector<JudgedText> judged;
  auto next = timed.begin();
  for (size_t i = 0; i < requests.size(); ++i) {
    const JudgeResult* const ended = std::get_if<JudgeResult>(&prepared[i]);
    ASSIGN_OR_RETURN(JudgedText text, JudgedTextOf(JsonOf(ended != nullptr ? *ended : *next++, requests[i], "")));
    judged.push_back(text);
  }
  return judged;
}

Result<std::vector<std::vector<JudgedText>>> HeatTextJudge::Judge(std::span<const WrittenTexts> written) {
  std::vector<size_t> groups(written.size());
  std::iota(groups.begin(), groups.end(), size_t{0});
  const std::unique_ptr<StopRule> stop = StopWhen(stop_, "stopped");
  WorkQueue queue(groups, *stop);
  std::vector<Result<std::vector<JudgedText>>> heats(written.size(), std::vector<JudgedText>());
  RunOnAll(queue, judge_.gpus(), [&](size_t gpu, size_t i) { heats[i] = Race(gpu, written[i]); });
  std::vector<std::vector<JudgedText>> judged;
  for (Result<std::vector<JudgedText>>& heat : heats) {
    ASSIGN_OR_RETURN(judged.emplace_back(), std::move(heat));
  }
  return judged;
}

}  // namespace gemmsmith
