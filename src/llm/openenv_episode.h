// An episode of OpenEnv (docs/agents.md): a problem, then sources for it, each with the reward of its verdict.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <variant>

#include "agents/judge_queue.h"
#include "problem/device_model.h"

namespace gemmsmith {

// Says nothing of a source: no reward.
struct OpenEnvError {
  int status = 400;  // over HTTP
  std::string code;  // over WebSocket
  std::string message;
};
// {"observation", "reward", "done"}
using OpenEnvAnswer = std::variant<nlohmann::ordered_json, OpenEnvError>;

class OpenEnvEpisode {
 public:
  OpenEnvEpisode(JudgeQueue& queue, const Device& device) : queue_(queue), device_(device) {}

  // {"seed", "episode_id", "problem", "turns"}, each perhaps; others are ignored. Without a problem the seed draws one.
  OpenEnvAnswer Reset(const nlohmann::ordered_json& data);
  // {"source", "problem", "metadata"}; the problem where no reset named one. nullopt: EndStep() has the answer.
  std::optional<OpenEnvError> BeginStep(const nlohmann::ordered_json& action);
  bool IsJudging() const { return !judged_.empty(); }
  // nullopt while it is judged.
  std::optional<OpenEnvAnswer> EndStep();
  nlohmann::ordered_json State() const;

 private:
  bool IsDone() const { return steps_ >= turns_; }
  OpenEnvAnswer AnswerOf(const JudgeAnswer& answer);

  JudgeQueue& queue_;
  const Device& device_;
  std::optional<Gemm> gemm_;
  std::string id_;
  int steps_ = 0, turns_ = 1;
  std::string judged_;  // the id of the request under way
};

// JSON schemas of "action", "observation", "reset_observation" and "state".
nlohmann::ordered_json OpenEnvSchemas();

}  // namespace gemmsmith
