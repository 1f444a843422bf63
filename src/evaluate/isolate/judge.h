// The work of a worker, apart from the pipe: prepare a problem, judge lists of candidates for it.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "evaluate/prepared_source.h"
#include "outcome/judging_terms.h"
#include "outcome/outcome.h"
#include "outcome/setting.h"
#include "program/launch.h"

namespace gemmsmith {

// A problem with one set of inputs, on the terms that its candidates will be judged on.
struct ProblemMessage : JudgingTerms {
  bool only_baselines = false;  // no candidates will come: what only they need is not made

  bool operator==(const ProblemMessage&) const = default;
};

// The same problem in another layout, which takes packed A and B.
inline ProblemMessage InLayout(ProblemMessage problem, const Layout& layout) {
  problem.gemm.kind.layout = layout;
  return problem;
}

// A smaller problem within the same matrices, for the very same kernel.
struct OtherShape {
  Shape shape;
  Launch launch;
  bool operator==(const OtherShape&) const = default;
};

// A plan's kernel with its launch, or a free-form source.
struct CandidateMessage {
  Launch launch;
  std::string entry;
  std::vector<uint8_t> cubin;
  std::optional<OtherShape> other;  // for the test 'repeat'
  // Then the fields above are empty but for the bytes of the workspace.
  std::optional<PreparedSource> source;
  Layout layout = kTn;  // the problem's; a plan may have another one where A and B are packed
  bool operator==(const CandidateMessage&) const = default;
};

// In this step a profiler looks at a candidate that has passed everything else.
inline constexpr std::string_view kCountersStep = "counters";

// The answer to a list of candidates.
struct Judgements {
  // By candidate: all but the code facts. Empty where it was not judged and must be sent again.
  std::vector<std::optional<Outcome>> outcomes;
  bool worker_is_lost = false;  // the GPU's context went down with a candidate: nothing more can be judged here
  bool one_by_one = false;      // the culprit is unknown, or they do not fit together: send the rest singly
};

// A step of the work, announced as it begins: silence then means that this step hangs, and names the one to blame.
inline constexpr int32_t kNobody = -1;
struct Step {
  std::string name;
  int32_t candidate = kNobody;  // its place in the list
};
using StepListener = std::function<void(const Step& step)>;

// Every Status is a failure of the environment.
class Judge {
 public:
  virtual ~Judge() = default;
  // Makes inputs, reference and baselines. Cheap when it was prepared before.
  virtual Status Prepare(const ProblemMessage& problem, const StepListener& on_step) = 0;
  // Judges for the problem prepared last, which was prepared before in every other layout of these. A list of one is
  // always answered.
  virtual Result<Judgements> Evaluate(std::span<const CandidateMessage> candidates, const StepListener& on_step) = 0;
  // Races the baselines of the problem prepared last: one outcome, as Evaluator::RaceBaselines() has it.
  virtual Result<Judgements> RaceBaselines(const StepListener& on_step) = 0;
  // Called when an answer is on its way, for work that no answer waits for.
  virtual void TidyUp() {}
};

}  // namespace gemmsmith
