#include "evaluate/self_test_matrix.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <mutex>
#include <thread>

#include "base/all_cores.h"
#include "base/seconds.h"

namespace gemmsmith {

namespace {

constexpr int kMostFailuresInARow = 3;

bool Passed(const Outcome& outcome) {
  return outcome.kind == OutcomeKind::kMeasured || outcome.kind == OutcomeKind::kVerified;
}

EvaluationRequest RequestFor(const Case& tested, uint64_t seed) {
  return {.gemm = tested.gemm,
          .subject = FreeForm{tested.name + ".cu", tested.text},
          .protocol = Protocol::kShort,
          .clocks = {Clock::kDevice, Clock::kOffline},
          .seed = seed,
          .time = true};
}

bool IsToBeBuilt(const Case& tested) {
  return std::find(tested.expected.begin(), tested.expected.end(), OutcomeKind::kCompileFailed) ==
         tested.expected.end();
}

class SelfTest {
 public:
  SelfTest(std::span<const Case> cases, const SelfTestOptions& options, Evaluator& evaluator,
           const PrepareCandidate& prepare, const SelfTestListener& on_step)
      : cases_(cases),
        options_(options),
        evaluator_(evaluator),
        prepare_(prepare),
        on_step_(on_step),
        reports_(cases.size()),
        candidates_(cases.size()) {
    for (size_t i = 0; i < cases.size(); ++i) {
      reports_[i].tested = &cases[i];
      if (cases[i].needs_cutlass && !options.has_cutlass) {
        reports_[i].why_not = "the headers of CUTLASS are not here";
        reports_[i].verdict = CaseVerdict::kSkipped;
      }
    }
  }

  // What should not even be built may keep a compiler busy for minutes: one thread has it meanwhile. Everything else is
  // built before anything is judged, on all cores, since judging takes times.
  Result<std::vector<CaseReport>> Run() {
    std::vector<size_t> built, refused;
    for (size_t at = 0; at < cases_.size(); ++at) (IsToBeBuilt(cases_[at]) ? built : refused).push_back(at);
    std::jthread meanwhile([&] {
      for (const size_t at : refused) PrepareOne(at);
    });
    ForEachOnAllCores(built.size(), [&](size_t i) { PrepareOne(built[i]); });
    const Status judged = JudgeAll(built);
    meanwhile.join();
    RETURN_IF_ERROR(judged);
    RETURN_IF_ERROR(JudgeAll(refused));
    for (CaseReport& report : reports_)
      if (report.why_not.empty()) report.verdict = Judge(*report.tested, report.seen);
    return std::move(reports_);
  }

 private:
  void Tell(const Case& now, std::optional<uint64_t> seed) {
    const std::lock_guard lock(telling_);
    on_step_(now, seed, done_++, int(cases_.size()) * (1 + options_.seeds));
  }

  void PrepareOne(size_t at) {
    Tell(cases_[at], std::nullopt);
    if (!reports_[at].why_not.empty()) return;
    Result<PreparedCandidate> prepared = prepare_(RequestFor(cases_[at], 0));
    if (prepared.ok()) {
      candidates_[at] = *std::move(prepared);
    } else {
      reports_[at].why_not = prepared.status().message();
    }
  }

  Status JudgeAll(const std::vector<size_t>& places) {
    for (const std::vector<size_t>& problem : ByProblem(places))
      for (int seed = 1; seed <= options_.seeds; ++seed)
        for (const size_t at : problem) RETURN_IF_ERROR(JudgeOnce(at, uint64_t(seed)));
    return OkStatus();
  }

  std::vector<std::vector<size_t>> ByProblem(const std::vector<size_t>& places) const {
    std::vector<std::vector<size_t>> problems;
    for (const size_t at : places) {
      const auto same = std::find_if(problems.begin(), problems.end(), [&](const std::vector<size_t>& problem) {
        return cases_[problem.front()].gemm == cases_[at].gemm;
      });
      if (same == problems.end())
        problems.push_back({at});
      else
        same->push_back(at);
    }
    return problems;
  }

  Status JudgeOnce(size_t at, uint64_t seed) {
    CaseReport& report = reports_[at];
    Tell(cases_[at], seed);
    if (!report.why_not.empty()) return OkStatus();
    const PreparedCandidate& candidate = candidates_[at];
    if (candidate.ended) {
      report.seen.push_back({seed, *candidate.ended});
      return OkStatus();
    }
    const auto start = std::chrono::steady_clock::now();
    Result<Outcome> outcome = evaluator_.Evaluate(RequestFor(cases_[at], seed), candidate);
    report.seconds += SecondsSince(start);
    if (!outcome.ok()) return NoteFailure(report, outcome.status());
    failures_in_a_row_ = 0;
    report.seen.push_back({seed, *std::move(outcome)});
    return OkStatus();
  }

  Status NoteFailure(CaseReport& report, const Status& failure) {
    report.why_not = failure.message();
    if (++failures_in_a_row_ < kMostFailuresInARow) return OkStatus();
    return {failure.code(), fmt::format("{} cases in a row could not be judged; the last, {}: {}", kMostFailuresInARow,
                                        report.tested->name, failure.message())};
  }

  std::span<const Case> cases_;
  SelfTestOptions options_;
  Evaluator& evaluator_;
  const PrepareCandidate& prepare_;
  const SelfTestListener& on_step_;
  std::vector<CaseReport> reports_;
  std::vector<PreparedCandidate> candidates_;
  std::mutex telling_;
  int done_ = 0;
  int failures_in_a_row_ = 0;
};

}  // namespace

std::string_view Name(CaseVerdict verdict) {
  switch (verdict) {
    case CaseVerdict::kAsExpected:
      return "as_expected";
    case CaseVerdict::kCaughtOtherwise:
      return "caught_otherwise";
    case CaseVerdict::kMissed:
      return "missed";
    case CaseVerdict::kFalseAlarm:
      return "false_alarm";
    case CaseVerdict::kSkipped:
      return "skipped";
    case CaseVerdict::kNotJudged:
      return "not_judged";
  }
  GEMMSMITH_CHECK(false, "no verdict {}", int(verdict));
}

Result<std::vector<CaseReport>> RunSelfTest(std::span<const Case> cases, const SelfTestOptions& options,
                                            Evaluator& evaluator, const PrepareCandidate& prepare,
                                            const SelfTestListener& on_step) {
  return SelfTest(cases, options, evaluator, prepare, on_step).Run();
}

CaseVerdict Judge(const Case& tested, std::span<const Sighting> seen) {
  if (seen.empty()) return CaseVerdict::kNotJudged;
  const auto passed = [](const Sighting& sighting) { return Passed(sighting.outcome); };
  const auto expected = [&](const Sighting& sighting) {
    return std::find(tested.expected.begin(), tested.expected.end(), sighting.outcome.kind) != tested.expected.end();
  };
  if (tested.is_honest())
    return std::all_of(seen.begin(), seen.end(), passed) ? CaseVerdict::kAsExpected : CaseVerdict::kFalseAlarm;
  if (std::any_of(seen.begin(), seen.end(), passed)) return CaseVerdict::kMissed;
  return std::all_of(seen.begin(), seen.end(), expected) ? CaseVerdict::kAsExpected : CaseVerdict::kCaughtOtherwise;
}

bool SelfTestCounts::AllAsExpected() const {
  return broken + honest > 0 && caught_otherwise + missed + false_alarms + not_judged == 0;
}

SelfTestCounts Count(std::span<const CaseReport> reports) {
  SelfTestCounts counts;
  for (const CaseReport& report : reports) {
    const bool is_honest = report.tested->is_honest();
    switch (report.verdict) {
      case CaseVerdict::kSkipped:
        ++counts.skipped;
        continue;
      case CaseVerdict::kNotJudged:
        ++counts.not_judged;
        continue;
      case CaseVerdict::kAsExpected:
        ++(is_honest ? counts.passed : counts.caught);
        break;
      case CaseVerdict::kCaughtOtherwise:
        ++counts.caught_otherwise;
        break;
      case CaseVerdict::kMissed:
        ++counts.missed;
        break;
      case CaseVerdict::kFalseAlarm:
        ++counts.false_alarms;
        break;
    }
    ++(is_honest ? counts.honest : counts.broken);
  }
  return counts;
}

std::string CaughtBy(const Outcome& outcome) {
  if (outcome.verdict.test.empty()) return outcome.stage;
  return fmt::format("{}: {}", outcome.stage, outcome.verdict.test);
}

}  // namespace gemmsmith
