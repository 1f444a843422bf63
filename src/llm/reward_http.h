// Rewards over the wires of trainers (docs/agents.md): OpenRLHF's remote reward model and NeMo Gym's resources server.
#pragma once

#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "agents/judge_queue.h"
#include "serve/http_server.h"

namespace gemmsmith {

// The worth of an answer: the speed-up over cuBLASLt AutoTuning, or the grade of the stage that ended it
// (policy/rewards.h). An answer without code is worth as little as an illegal one. Nothing where a verdict has neither.
double RewardOfUnreadable();
std::optional<double> RewardOf(const nlohmann::ordered_json& verdict);

class RewardHttp {
 public:
  explicit RewardHttp(JudgeQueue& queue) : queue_(queue) {}

  // nullopt: the path is no wire of a trainer. An answer is waited for until every source is judged. What says nothing
  // of a source is a status of 4xx or 5xx, never a reward.
  std::optional<HttpReply> Answer(const HttpRequest& request);

 private:
  // One answer of a model: the id of its source's request, or why it has none.
  struct Written {
    std::string id;      // empty: without code
    std::string reason;  // why not
  };
  Result<std::vector<JudgeRequest>> Read(const std::vector<std::pair<std::string, std::string>>& answers,
                                         std::vector<Written>& written) const;
  HttpReply Rewards(const std::vector<std::pair<std::string, std::string>>& answers,
                    std::function<HttpAnswer(std::vector<nlohmann::ordered_json>)> finish);
  HttpReply OpenRlhf(const nlohmann::ordered_json& body);
  HttpReply NemoGym(const nlohmann::ordered_json& body);

  JudgeQueue& queue_;
};

}  // namespace gemmsmith
