// The service's judge as the training of a model of texts needs it: each kernel is screened, and its verdict is a
// reward.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <utility>
#include <vector>

#include "corpus/text_judge.h"
#include "llm/source_judge.h"

namespace gemmsmith {

// Of a verdict as JsonOf(JudgeResult, ...) has it. Unavailable where it says nothing of the kernel.
Result<JudgedText> JudgedTextOf(const nlohmann::ordered_json& json);

class QueueTextJudge : public TextJudge {
 public:
  // `judge` outlives it.
  QueueTextJudge(SourceJudge& judge, std::string name) : judge_(judge), name_(std::move(name)) {}

  std::string name() const override { return name_; }
  // Rewards as over the wires of trainers (reward_http.h). Unavailable where a verdict says nothing of a kernel.
  Result<std::vector<std::vector<JudgedText>>> Judge(std::span<const WrittenTexts> written) override;

 private:
  SourceJudge& judge_;
  const std::string name_;
};

}  // namespace gemmsmith
