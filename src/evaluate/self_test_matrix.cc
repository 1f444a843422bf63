#include "evaluate/self_test_matrix.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
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
  return {{.gemm = tested.gemm,
           .protocol = Protocol::kShort,
           .clocks = {Clock::kDevice, Clock::kOffline},
           .seed = seed,
           .time = true},
          FreeForm{tested.name + ".cu", tested.text}};
}

bool IsToBeBuilt(const Case& tested) {
  return std::find(tested.expected.begin(), tested.expected.end(), OutcomeKind::kCompileFailed) ==
         tested.expected.end();
}

class SelfTest {
 public:
  SelfTest(std::span<const Case> cases, const SelfTestOptions& options, std::span<Evaluator* const> evaluators,
           const PrepareCandidate& prepare, const SelfTestListener& on_step)
      : cases_(cases),
        options_(options),
        evaluators_(evaluators),
        prepare_(prepare),
        on_step_(on_step),
        reports_(cases.size()),
        candidates_(cases.size()),
        failures_in_a_row_(evaluators.size()),
        outcomes_(cases.size(), std::vector<std::optional<Outcome>>(size_t(options.seeds))) {
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
    Status judged = JudgeAll(built);
    meanwhile.join();
    if (judged.ok()) judged = JudgeAll(refused);
    if (!judged.ok() && NothingWasJudged()) return judged;
    for (size_t at = 0; at < cases_.size(); ++at) Conclude(at);
    return std::move(reports_);
  }

 private:
  struct Share {
    std::vector<size_t> places;  // of cases of one problem
    uint64_t seed;
  };

  bool ShouldStop() const { return options_.should_stop && options_.should_stop(); }

  void Tell(const Case& now, std::optional<uint64_t> seed) {
    const std::lock_guard lock(mutex_);
    on_step_(now, seed, done_++, int(cases_.size()) * (1 + options_.seeds));
  }

  void PrepareOne(size_t at) {
    if (ShouldStop()) return;
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
    const std::vector<Share> shares = SharesOf(places);
    std::atomic<size_t> next = 0;
    std::vector<Status> ends(evaluators_.size());
    {
      std::vector<std::jthread> threads;
      for (size_t i = 0; i < evaluators_.size(); ++i)
        threads.emplace_back([&, i] {
          for (size_t at; ends[i].ok() && (at = next++) < shares.size();) ends[i] = JudgeShare(shares[at], i);
        });
    }
    for (const Status& end : ends) RETURN_IF_ERROR(end);
    return OkStatus();
  }

  bool NothingWasJudged() const {
    return std::none_of(outcomes_.begin(), outcomes_.end(), [](const std::vector<std::optional<Outcome>>& of_seeds) {
      return std::any_of(of_seeds.begin(), of_seeds.end(), [](const auto& outcome) { return outcome.has_value(); });
    });
  }

  std::vector<Share> SharesOf(const std::vector<size_t>& places) const {
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
    std::vector<Share> shares;
    for (const std::vector<size_t>& problem : problems)
      for (int seed = 1; seed <= options_.seeds; ++seed) shares.push_back({problem, uint64_t(seed)});
    return shares;
  }

  Status JudgeShare(const Share& share, size_t evaluator) {
    for (const size_t at : share.places) {
      if (ShouldStop()) return OkStatus();
      Tell(cases_[at], share.seed);
      if (IsGivenUp(at)) continue;
      const auto start = std::chrono::steady_clock::now();
      Result<Outcome> outcome =
          candidates_[at].ended ? *candidates_[at].ended
                                : evaluators_[evaluator]->Evaluate(RequestFor(cases_[at], share.seed), candidates_[at]);
      const std::lock_guard lock(mutex_);
      reports_[at].seconds += SecondsSince(start);
      if (outcome.ok()) {
        failures_in_a_row_[evaluator] = 0;
        outcomes_[at][size_t(share.seed - 1)] = *std::move(outcome);
        continue;
      }
      const Status& failure = outcome.status();
      reports_[at].why_not = failure.message();
      if (++failures_in_a_row_[evaluator] == kMostFailuresInARow)
        return {failure.code(), fmt::format("{} cases in a row could not be judged; the last, {}: {}",
                                            kMostFailuresInARow, cases_[at].name, failure.message())};
    }
    return OkStatus();
  }

  bool IsGivenUp(size_t at) {
    const std::lock_guard lock(mutex_);
    return !reports_[at].why_not.empty();
  }

  void Conclude(size_t at) {
    CaseReport& report = reports_[at];
    for (size_t i = 0; i < outcomes_[at].size(); ++i)
      if (outcomes_[at][i]) report.seen.push_back({i + 1, *std::move(outcomes_[at][i])});
    if (report.why_not.empty() && report.seen.size() < outcomes_[at].size())
      report.why_not = "stopped before it was judged with all seeds";
    if (report.why_not.empty()) report.verdict = Judge(*report.tested, report.seen);
  }

  std::span<const Case> cases_;
  SelfTestOptions options_;
  std::span<Evaluator* const> evaluators_;
  const PrepareCandidate& prepare_;
  const SelfTestListener& on_step_;
  std::vector<CaseReport> reports_;
  std::vector<PreparedCandidate> candidates_;
  std::vector<int> failures_in_a_row_;                         // of each evaluator
  std::vector<std::vector<std::optional<Outcome>>> outcomes_;  // by seed
  std::mutex mutex_;  // of the reports while evaluators judge, and of the listener
  int done_ = 0;
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
                                            std::span<Evaluator* const> evaluators, const PrepareCandidate& prepare,
                                            const SelfTestListener& on_step) {
  return SelfTest(cases, options, evaluators, prepare, on_step).Run();
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
