// What a worker does for its program, apart from the pipe: prepare a problem, judge lists of candidates for it.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "evaluate/baseline/baseline_set.h"
#include "evaluate/outcome.h"
#include "evaluate/setting.h"
#include "evaluate/verify/test_list.h"
#include "problem/gemm.h"
#include "program/launch.h"

namespace gemmsmith {

// A problem with one set of inputs, and how thoroughly candidates for it will be judged.
struct ProblemMessage {
  Gemm gemm;
  Protocol protocol = Protocol::kScreen;
  ClockSet clocks = {Clock::kDevice};
  uint64_t seed = 0;
  bool time = true;                // false: no timing, every test, and no baselines unless it is to be certified
  TestSet tests = TestSet::All();  // of those that would run, the ones that are wanted
  bool certify = false;            // the expected product comes from the CPU, every element of it
  BaselineSet baselines;
  bool only_baselines = false;  // no candidates will come: what only they need is not made
  bool counters = false;        // read, of what passes
  // Single calls (offline, server, host) are timed of those candidates alone that are the fastest of their layouts on
  // kDevice.
  bool calls_of_fastest = false;
  bool brief = false;  // few rounds in the short protocol, and to choose AutoTuning

  bool WantsBaselines() const { return time || certify; }
  // Each test that there is, not only those of a search.
  bool WantsEverything() const { return !time || IsThorough(protocol); }
  bool operator==(const ProblemMessage&) const = default;
};

// Of a problem whose A and B are packed, or in its own layout.
inline ProblemMessage InLayout(ProblemMessage problem, const Layout& layout) {
  problem.gemm.kind.layout = layout;
  return problem;
}

// A smaller problem within the same matrices that the very same kernel serves.
struct OtherShape {
  Shape shape;
  Launch launch;
  bool operator==(const OtherShape&) const = default;
};

// A plan's kernel with its launch, or the object of a free-form source.
struct CandidateMessage {
  Launch launch;
  std::string entry;
  std::vector<uint8_t> cubin;
  std::optional<OtherShape> other;  // for the test 'repeat'
  std::vector<uint8_t> object;      // a shared object; then there is nothing else, and the candidate comes alone
  Layout layout = kTn;              // the problem's, or a plan's where A and B are packed another one
  bool is_source() const { return !object.empty(); }
  bool operator==(const CandidateMessage&) const = default;
};

// The step in which a profiler looks at what has passed everything else.
inline constexpr std::string_view kCountersStep = "counters";

// What became of a list of candidates.
struct Judgements {
  // By candidate: all but the code facts. Empty where it was not judged and must be sent again.
  std::vector<std::optional<Outcome>> outcomes;
  bool worker_is_lost = false;  // the GPU's context went down with a candidate: nothing more can be judged here
  bool one_by_one = false;      // it is not known which one failed, or they do not fit together: send the rest singly
};

// A step of the work as it begins, so that silence means that this very step hangs, and whose fault that is.
inline constexpr int32_t kNobody = -1;
struct Step {
  std::string name;
  int32_t candidate = kNobody;  // its place in the list
};
using StepListener = std::function<void(const Step& step)>;

class Judge {
 public:
  virtual ~Judge() = default;
  // Inputs, reference, baselines. Cheap when it was prepared before. A Status where the world failed.
  virtual Status Prepare(const ProblemMessage& problem, const StepListener& on_step) = 0;
  // For the problem prepared last, and prepared before in the layouts of all others. A list of one is always answered.
  // A Status where the world failed.
  virtual Result<Judgements> Evaluate(std::span<const CandidateMessage> candidates, const StepListener& on_step) = 0;
  // The baselines of the problem prepared last against each other: one outcome, as Evaluator::RaceBaselines() has it.
  virtual Result<Judgements> RaceBaselines(const StepListener& on_step) = 0;
  // Called when an answer is on its way, for what nobody has to wait for.
  virtual void TidyUp() {}
};

}  // namespace gemmsmith
