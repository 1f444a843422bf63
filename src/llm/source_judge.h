// The judge as the loop of a writing model needs it.
#pragma once

#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <vector>

#include "agents/judge_queue.h"

namespace gemmsmith {

class SourceJudge {
 public:
  virtual ~SourceJudge() = default;
  // The verdicts in the order of the requests. A Status where one could not be judged.
  virtual Result<std::vector<nlohmann::ordered_json>> Judge(const std::vector<JudgeRequest>& requests) = 0;
};

// By a queue of this machine; `stop` is asked while it waits.
class QueueJudge : public SourceJudge {
 public:
  QueueJudge(JudgeQueue& queue, std::function<bool()> stop) : queue_(queue), stop_(std::move(stop)) {}
  Result<std::vector<nlohmann::ordered_json>> Judge(const std::vector<JudgeRequest>& requests) override;

 private:
  JudgeQueue& queue_;
  const std::function<bool()> stop_;
};

}  // namespace gemmsmith
