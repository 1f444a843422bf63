// A language model writes kernels for one problem: islands of sources, two contrasting ones shown in each question,
// verdicts sent back for repair, budgets. With the same options and answers a run takes the same way.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/stop_rule.h"
#include "llm/chat.h"
#include "llm/documentation.h"
#include "llm/population.h"
#include "llm/source_judge.h"
#include "llm/token_price.h"

namespace gemmsmith {

struct WritingOptions {
  Gemm gemm;
  std::string task;     // the text of the problem (agents/task_text.h)
  std::string example;  // a right source, which every island begins with
  DocumentQuery query;  // on the problem
  std::string model;
  int islands = 4;
  int repairs = 2;  // further answers to verdicts on a source
  int answers = 128;
  std::optional<double> seconds;
  std::optional<int64_t> tokens;
  std::optional<double> dollars;
  TokenPrice price;
  double temperature = 1;
  int64_t answer_tokens = 8192;
  uint64_t seed = 1;
};

struct WritingCounts {
  int64_t answers = 0;
  int64_t unreadable = 0;                   // without code that could be judged
  std::map<std::string, int64_t> outcomes;  // of the others, by name
  int64_t prompt_tokens = 0, answer_tokens = 0;
  double dollars = 0;
};

struct WritingEvent {
  const WritingCounts& counts;
  const Member* best;  // null: none was timed
};

struct WritingResult {
  WritingCounts counts;
  // Of the short protocol where something was timed, else every source that passed; the fastest first.
  std::vector<Member> best;
  std::string stop_reason;
};

// `stop` bounds the run beside the budgets. After a failure of the model or the judge its Status is the answer; what
// was exchanged until then is in their logs. Without documentation (null) questions quote none.
Result<WritingResult> WriteKernels(const WritingOptions& options, ChatModel& model, SourceJudge& judge,
                                   Documentation* documentation, StopRule& stop,
                                   const std::function<void(const WritingEvent&)>& on_event);

}  // namespace gemmsmith
