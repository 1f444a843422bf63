// The judge's own test: broken kernels, each of which it must refuse for the right reason, and honest ones, which it
// must let pass. The answer is the detection matrix: what became of every case with every seed.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "evaluate/evaluator.h"
#include "evaluate/self_test_cases.h"

namespace gemmsmith {

enum class CaseVerdict : uint8_t {
  kAsExpected,
  kCaughtOtherwise,  // a broken kernel refused with every seed, but not with an outcome that it names
  kMissed,           // a broken kernel that passed with any seed
  kFalseAlarm,       // an honest kernel refused with any seed
  kSkipped,          // it needs headers that are not here
  kNotJudged,        // the world failed
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
  std::string why_not;         // it was skipped or could not be judged
  CaseVerdict verdict = CaseVerdict::kNotJudged;
  double seconds = 0;  // of judging, all seeds together; without compilation
};

struct SelfTestOptions {
  int seeds = 3;  // 1, 2, ...
  bool has_cutlass = true;
  std::function<bool()> should_stop;  // asked before each judgement, by any thread; none: never
};

// How a candidate is prepared; called from many threads at once, one of them while others are judged.
using PrepareCandidate = std::function<Result<PreparedCandidate>(const EvaluationRequest&)>;
// Told before a case is prepared (no seed) or judged, with how many of all such steps are done; one call at a time.
using SelfTestListener = std::function<void(const Case& now, std::optional<uint64_t> seed, int done, int steps)>;

// Judges every case with every seed. Evaluators (at least one, of a GPU each) take the cases of one problem and one seed
// at a time, so that inputs and baselines are made once. A report for each case, in the order of the cases, which must
// outlive it; a case whose seeds have not all come to be judged when the wish to stop is heard is not judged. A failure of
// the world is a report's, not the end; three in a row end the work of their evaluator, and everything if nothing was judged.
Result<std::vector<CaseReport>> RunSelfTest(std::span<const Case> cases, const SelfTestOptions& options,
                                            std::span<Evaluator* const> evaluators, const PrepareCandidate& prepare,
                                            const SelfTestListener& on_step);

// What one case's sightings mean.
CaseVerdict Judge(const Case& tested, std::span<const Sighting> seen);

struct SelfTestCounts {
  int broken = 0, honest = 0;  // judged ones
  int caught = 0, caught_otherwise = 0, missed = 0;
  int passed = 0, false_alarms = 0;
  int skipped = 0, not_judged = 0;
  // Whether all are as expected and somebody was judged at all.
  bool AllAsExpected() const;
};
SelfTestCounts Count(std::span<const CaseReport> reports);

// Stage and, where a test failed, its name: "correctness: binary".
std::string CaughtBy(const Outcome& outcome);

}  // namespace gemmsmith
