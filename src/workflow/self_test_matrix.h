// The judge's own test: it must refuse broken kernels, each for the right reason, and let honest ones pass. The
// detection matrix holds the outcome of every case with every seed.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/stop_rule.h"
#include "evaluate/evaluator.h"
#include "workflow/self_test_cases.h"

namespace gemmsmith {

enum class CaseVerdict : uint8_t {
  kAsExpected,
  kCaughtOtherwise,  // a broken kernel refused with every seed, but not as it says
  kMissed,           // a broken kernel that passed with any seed
  kFalseAlarm,       // an honest kernel refused with any seed
  kSkipped,          // it needs headers that are not here
  kNotJudged,        // the machine failed
};
inline constexpr CaseVerdict kLastCaseVerdict = CaseVerdict::kNotJudged;
std::string_view Name(CaseVerdict verdict);  // "as_expected", "caught_otherwise", "missed", "false_alarm", ...

struct Sighting {
  uint64_t seed = 0;
  Outcome outcome;
};

struct CaseReport {
  const Case* tested = nullptr;
  std::vector<Sighting> seen;  // in the order of the seeds
  std::string why_not;         // why it was skipped or not judged
  CaseVerdict verdict = CaseVerdict::kNotJudged;
  double seconds = 0;  // of judging with all seeds, without compilation
};

struct SelfTestOptions {
  int seeds = 3;  // 1, 2, ...
  bool has_cutlass = true;
};

// Prepares a candidate. Many threads call it at once, one of them while others judge.
using PrepareCandidate = std::function<Result<PreparedCandidate>(const EvaluationRequest&)>;
// Called before a case is prepared (no seed) or judged, with the count of such steps that are done. One call at a time.
using SelfTestListener = std::function<void(const Case& now, std::optional<uint64_t> seed, int done, int steps)>;

// Judges every case with every seed; the answer has a report for each case, in their order, and the cases outlive it.
// Evaluators (of a GPU each) judge cases of one problem and one seed in one list, of at most 16. A case that `stop`
// leaves without some seeds is not judged. A case that cannot be judged does not end the test; three in a row end the
// work of their evaluator, and the test if nothing was judged.
Result<std::vector<CaseReport>> RunSelfTest(std::span<const Case> cases, const SelfTestOptions& options,
                                            std::span<Evaluator* const> evaluators, const PrepareCandidate& prepare,
                                            StopRule& stop, const SelfTestListener& on_step);

CaseVerdict VerdictOn(const Case& tested, std::span<const Sighting> seen);

struct SelfTestCounts {
  int broken = 0, honest = 0;  // judged ones
  int caught = 0, caught_otherwise = 0, missed = 0;
  int passed = 0, false_alarms = 0;
  int skipped = 0, not_judged = 0;
  // Whether all are as expected and any was judged.
  bool AllAsExpected() const;
};
SelfTestCounts Count(std::span<const CaseReport> reports);

// The stage and, where a test failed, its name: "correctness: binary".
std::string CaughtBy(const Outcome& outcome);

}  // namespace gemmsmith
