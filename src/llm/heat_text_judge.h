// All sources of a problem in one heat beside the libraries, in the short protocol: a comparison of kernels that were
// screened apart.
#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "agents/subject_judge.h"
#include "corpus/text_judge.h"

namespace gemmsmith {

class HeatTextJudge : public TextJudge {
 public:
  // `judge` outlives it. `stop` is asked before each heat; problems whose heat did not begin have no verdicts.
  HeatTextJudge(SubjectJudge& judge, std::string name, std::function<bool()> stop)
      : judge_(judge), name_(std::move(name)), stop_(std::move(stop)) {}

  std::string name() const override { return name_; }
  // On all GPUs. Unavailable where a verdict says nothing of a kernel.
  Result<std::vector<std::vector<JudgedText>>> Judge(std::span<const WrittenTexts> written) override;

 private:
  Result<std::vector<JudgedText>> Race(size_t gpu, const WrittenTexts& texts);

  SubjectJudge& judge_;
  const std::string name_;
  const std::function<bool()> stop_;
};

}  // namespace gemmsmith
