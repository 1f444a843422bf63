#include "workflow/self_test_matrix.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <mutex>
#include <thread>

#include "base/all_cores.h"
#include "base/run_workers.h"
#include "base/seconds.h"

namespace gemmsmith {

namespace {

constexpr size_t kMaxFailures = 3;

bool Passed(const Outcome& outcome) {
  return outcome.kind == OutcomeKind::kMeasured || outcome.kind == OutcomeKind::kVerified;
}

EvaluationRequest RequestFor(const Case& tested, uint64_t seed) {
  return {{.gemm = tested.gemm,
           .protocol = Protocol::kShort,
           .clocks = {Clock::kDeviceCold, Clock::kOffline},
           .seed = seed,
           .time = true},
          FreeForm{tested.name + ".cu", tested.text}};
}

// A case that must not compile may keep a compiler busy for minutes, unless its reason is known.
bool IsToBeBuilt(const Case& tested) {
  return !tested.says.empty() || std::find(tested.expected.begin(), tested.expected.end(),
                                           OutcomeKind::kCompileFailed) == tested.expected.end();
}

class SelfTest {
 public:
  SelfTest(std::span<const Case> cases, const SelfTestOptions& options, std::span<Evaluator* const> evaluators,
           const PrepareCandidate& prepare, StopRule& stop, const SelfTestListener& on_step)
      : cases_(cases),
        options_(options),
        evaluators_(evaluators),
        prepare_(prepare),
        stop_(stop),
        on_step_(on_step),
        reports_(cases.size()),
        candidates_(cases.size()),
        outcomes_(cases.size(), std::vector<std::optional<Outcome>>(size_t(options.seeds))) {
    for (size_t i = 0; i < cases.size(); ++i) {
      reports_[i].tested = &cases[i];
      if (cases[i].needs_cutlass && !options.has_cutlass) {
        reports_[i].why_not = "the headers of CUTLASS are not here";
        reports_[i].verdict = CaseVerdict::kSkipped;
      }
    }
  }

  // One thread builds the cases that may take minutes, beside the judging. All others are built on all cores before
  // anything is judged, since judging measures times.
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
  // A case and one of its seeds.
  struct Step {
    size_t at;
    uint64_t seed;
  };
  struct Judged {
    Result<Outcome> outcome;
    double seconds = 0;  // its share of the list's
  };

  void Tell(const Case& now, std::optional<uint64_t> seed) {
    const std::lock_guard lock(mutex_);
    on_step_(now, seed, done_++, int(cases_.size()) * (1 + options_.seeds));
  }

  void PrepareOne(size_t at) {
    if (stop_.ShouldStop({})) return;
    Tell(cases_[at], std::nullopt);
    if (!reports_[at].why_not.empty()) return;
    Result<PreparedCandidate> prepared = prepare_(RequestFor(cases_[at], 0));
    if (prepared.ok()) {
      candidates_[at] = *std::move(prepared);
    } else {
      reports_[at].why_not = prepared.status().message();
    }
  }

  // Judges the next cases in one list with the present one, where they have its problem and its seed.
  class ListWorker : public Worker {
   public:
    ListWorker(SelfTest& test, WorkQueue& queue, size_t number, const std::vector<Step>& steps)
        : test_(test), queue_(queue), number_(number), steps_(steps) {}
    void Expect(size_t item) override { expected_.push_back(item); }
    void Do(size_t item) override {
      if (!judged_.contains(item)) JudgeList(item);
      std::erase(expected_, item);
      test_.Report(queue_, number_, item, steps_[item], judged_.extract(item).mapped());
    }

   private:
    void JudgeList(size_t first) {
      std::vector<size_t> items;
      for (const size_t item : expected_)
        if (test_.ShareOf(steps_[item]) == test_.ShareOf(steps_[first])) items.push_back(item);
      std::vector<std::optional<Judged>> judged = test_.JudgeTogether(number_, items, steps_);
      for (size_t i = 0; i < items.size(); ++i) judged_[items[i]] = std::move(judged[i]);
    }

    SelfTest& test_;
    WorkQueue& queue_;
    const size_t number_;
    const std::vector<Step>& steps_;
    std::vector<size_t> expected_;
    std::map<size_t, std::optional<Judged>> judged_;
  };

  Status JudgeAll(const std::vector<size_t>& places) {
    constexpr size_t kMostInList = 16;
    const std::vector<Step> steps = StepsOf(places);
    WorkQueue queue(GroupBy(steps, [&](const Step& step) { return ShareOf(step); }), stop_,
                    {.max_failures = kMaxFailures, .group_fails_once = false});
    RunOnAll(queue, evaluators_.size(), kMostInList - 1,
             [&](size_t number) { return std::make_unique<ListWorker>(*this, queue, number, steps); });
    return queue.failure();
  }
  std::pair<Gemm, uint64_t> ShareOf(const Step& step) const { return {cases_[step.at].gemm, step.seed}; }

  bool NothingWasJudged() const {
    return std::none_of(outcomes_.begin(), outcomes_.end(), [](const std::vector<std::optional<Outcome>>& of_seeds) {
      return std::any_of(of_seeds.begin(), of_seeds.end(), [](const auto& outcome) { return outcome.has_value(); });
    });
  }

  // Problem by problem, and of a problem seed by seed.
  std::vector<Step> StepsOf(const std::vector<size_t>& places) const {
    const std::vector<size_t> problem_of = GroupBy(places, [&](size_t at) { return cases_[at].gemm; });
    std::map<std::pair<size_t, uint64_t>, std::vector<size_t>> shares;
    for (size_t i = 0; i < places.size(); ++i)
      for (int seed = 1; seed <= options_.seeds; ++seed) shares[{problem_of[i], uint64_t(seed)}].push_back(places[i]);
    std::vector<Step> steps;
    for (const auto& [share, of_share] : shares)
      for (const size_t at : of_share) steps.push_back({at, share.second});
    return steps;
  }

  // Nothing for a case that was given up.
  std::vector<std::optional<Judged>> JudgeTogether(size_t number, std::span<const size_t> items,
                                                   std::span<const Step> steps) {
    std::vector<std::optional<Judged>> judged(items.size());
    std::vector<size_t> places;
    std::vector<Candidate> candidates;
    for (size_t i = 0; i < items.size(); ++i) {
      const auto& [at, seed] = steps[items[i]];
      if (IsGivenUp(at)) continue;
      if (const std::optional<Outcome>& ended = candidates_[at].ended) {
        judged[i] = Judged{*ended};
        continue;
      }
      places.push_back(i);
      candidates.push_back({RequestFor(cases_[at], seed), candidates_[at]});
    }
    if (places.empty()) return judged;
    const auto start = std::chrono::steady_clock::now();
    std::vector<Result<Outcome>> outcomes = evaluators_[number]->EvaluateTogether(candidates);
    const double seconds = SecondsSince(start) / double(places.size());
    for (size_t i = 0; i < places.size(); ++i) judged[places[i]] = Judged{std::move(outcomes[i]), seconds};
    return judged;
  }

  void Report(WorkQueue& queue, size_t number, size_t item, const Step& step, std::optional<Judged> judged) {
    const auto& [at, seed] = step;
    Tell(cases_[at], seed);
    if (!judged || IsGivenUp(at)) return;
    const std::lock_guard lock(mutex_);
    reports_[at].seconds += judged->seconds;
    Result<Outcome>& outcome = judged->outcome;
    if (outcome.ok()) {
      outcomes_[at][size_t(seed - 1)] = *std::move(outcome);
      return queue.Succeed(number);
    }
    reports_[at].why_not = outcome.status().message();
    queue.Fail(number, item,
               {outcome.status().code(), fmt::format("{} cases in a row could not be judged; the last, {}: {}",
                                                     kMaxFailures, cases_[at].name, outcome.status().message())});
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
    if (report.why_not.empty()) report.verdict = VerdictOn(*report.tested, report.seen);
  }

  std::span<const Case> cases_;
  SelfTestOptions options_;
  std::span<Evaluator* const> evaluators_;
  const PrepareCandidate& prepare_;
  StopRule& stop_;
  const SelfTestListener& on_step_;
  std::vector<CaseReport> reports_;
  std::vector<PreparedCandidate> candidates_;
  std::vector<std::vector<std::optional<Outcome>>> outcomes_;  // by seed
  std::mutex mutex_;  // guards the reports while evaluators judge, and the listener
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
                                            StopRule& stop, const SelfTestListener& on_step) {
  return SelfTest(cases, options, evaluators, prepare, stop, on_step).Run();
}

CaseVerdict VerdictOn(const Case& tested, std::span<const Sighting> seen) {
  if (seen.empty()) return CaseVerdict::kNotJudged;
  const auto passed = [](const Sighting& sighting) { return Passed(sighting.outcome); };
  const auto expected = [&](const Sighting& sighting) {
    const Outcome& outcome = sighting.outcome;
    return std::find(tested.expected.begin(), tested.expected.end(), outcome.kind) != tested.expected.end() &&
           outcome.reason.find(tested.says) != std::string::npos;
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
