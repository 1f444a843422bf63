// The judge behind the queue: prepares subjects without a GPU, then tests and times them on one.
#pragma once

#include <string>
#include <variant>
#include <vector>

#include "agents/judge_result.h"
#include "evaluate/evaluator.h"

namespace gemmsmith {

class SubjectJudge {
 public:
  virtual ~SubjectJudge() = default;
  // Device and version of the judge, for IdOf().
  virtual std::string identity() const = 0;
  virtual size_t gpus() const = 0;
  // Everything that needs no GPU: a result where that decides, else a candidate for Time(). Without GPUs always a
  // result. Safe from many threads.
  virtual std::variant<JudgeResult, Candidate> Prepare(const JudgeRequest& request) = 0;
  // One exchange with a GPU, in the order of the candidates, which are on the same terms. One call at a time for each
  // GPU.
  virtual std::vector<JudgeResult> Time(size_t gpu, std::vector<Candidate> candidates) = 0;
  // Nothing was to be timed for a while: gives the GPU to other processes. Called by the thread of Time().
  virtual void Rest(size_t /*gpu*/) {}
};

}  // namespace gemmsmith
