// The kernels that a run of learning has judged: what later prompts of their problems show. A file for each step keeps
// them, so that a stopped run goes on with the same ones.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/random.h"
#include "base/status.h"
#include "corpus/shown_kernels.h"
#include "corpus/text_judge.h"

namespace gemmsmith {

struct EarlierKernel {
  std::string problem;  // as Print(Gemm) says it
  std::string text;
  JudgedText judged;
};

class EarlierKernels {
 public:
  // A folder of step_00001.jsonl and so on.
  explicit EarlierKernels(std::filesystem::path folder) : folder_(std::move(folder)) {}

  // Afterwards those of the steps before `step` are known. DataLoss where a file of them is damaged or missing.
  Status ReadBefore(int64_t step);
  // Writes the file of the step, and knows its kernels. A text that its problem has already is not shown twice.
  Status Keep(int64_t step, std::span<const EarlierKernel> kernels);
  // As ChooseContrasting() says, by speed; a kernel that is not right has none. Nothing where there are fewer than
  // `count` buckets.
  std::vector<ShownKernel> Choose(const std::string& problem, size_t count, Random& random) const;

 private:
  std::filesystem::path PathOf(int64_t step) const;
  Status AddLines(std::string_view lines);
  void Add(const EarlierKernel& kernel);

  const std::filesystem::path folder_;
  int64_t next_step_ = 1;  // the first whose kernels are not known
  std::map<std::string, std::vector<ShownKernel>> by_problem_;
};

}  // namespace gemmsmith
