// Judges the kernels that a model of texts writes in training.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/status.h"
#include "outcome/outcome.h"
#include "problem/gemm.h"

namespace gemmsmith {

// The sources written for one problem.
struct WrittenTexts {
  Gemm gemm;
  std::vector<std::string> sources;
};

struct JudgedText {
  OutcomeKind kind = OutcomeKind::kIllegal;
  double reward = 0;
  std::optional<double> speed_up;  // over cuBLASLt AutoTuning, where timed
  std::optional<double> time_ns;   // on the leading clock
};

class TextJudge {
 public:
  virtual ~TextJudge() = default;
  // Part of what must be the same for a run to go on: "live on NVIDIA H200".
  virtual std::string name() const = 0;
  // The reward of each source, in order. A Status reports a failed environment; the whole step is then void.
  virtual Result<std::vector<std::vector<JudgedText>>> Judge(std::span<const WrittenTexts> written) = 0;
};

}  // namespace gemmsmith
