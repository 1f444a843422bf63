// What a worker does for its program, apart from the pipe: prepare a problem, judge candidates for it.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "evaluate/outcome.h"
#include "evaluate/setting.h"
#include "problem/gemm.h"
#include "program/launch.h"

namespace gemmsmith {

// A problem with one set of inputs, and how thoroughly candidates for it will be judged.
struct ProblemMessage {
  Gemm gemm;
  Protocol protocol = Protocol::kScreen;
  bool offline_clock = false;
  uint64_t seed = 0;
  bool operator==(const ProblemMessage&) const = default;
};

struct CandidateMessage {
  Launch launch;
  std::string entry;
  std::vector<uint8_t> cubin;
  bool operator==(const CandidateMessage&) const = default;
};

struct Judgement {
  Outcome outcome;              // kind, stage, reason, verdict, timings, ...: all but the code facts
  bool worker_is_lost = false;  // the GPU's context went down with the candidate: nothing more can be judged here
};

// Told the name of each step as it begins, so that silence means that this very step hangs.
using StepListener = std::function<void(std::string_view step)>;

class Judge {
 public:
  virtual ~Judge() = default;
  // Inputs, reference, baselines. Cheap when it was prepared before. A Status where the world failed.
  virtual Status Prepare(const ProblemMessage& problem, const StepListener& on_step) = 0;
  // For the problem prepared last.
  virtual Result<Judgement> Evaluate(const CandidateMessage& candidate, const StepListener& on_step) = 0;
};

}  // namespace gemmsmith
