#include "campaign/bench.h"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <future>
#include <map>
#include <optional>
#include <set>

#include "base/run_workers.h"
#include "campaign/trial_runner.h"

namespace gemmsmith {

namespace {

// Races whose kernels compile while another one is judged.
constexpr size_t kRacesAhead = 15;

struct Race {
  Gemm gemm;
  std::vector<Subject> subjects;  // empty: the baselines race alone
};

std::set<TrialSubject> NamesOf(const Race& race) {
  std::set<TrialSubject> names;
  for (const Subject& subject : race.subjects) names.insert(SubjectOf(subject));
  if (race.subjects.empty()) names.insert(Nobody());
  return names;
}

class BenchRun : public Worker {
 public:
  BenchRun(const BenchOptions& options, Evaluator& evaluator, Compiler* compiler, SourceCompiler* source_compiler,
           Archive& archive, StopRule& stop, const OnMeasured& on_event)
      : options_(options),
        device_(evaluator.device()),
        compiler_(compiler),
        source_compiler_(source_compiler),
        archive_(archive),
        stop_(stop),
        on_event_(on_event),
        run_trials_(evaluator, compiler, &archive, options.name) {}

  Result<MeasuredList> Run() {
    RETURN_IF_ERROR(FindStored());
    RETURN_IF_ERROR(ListRaces());
    const std::vector<Gemm>& problems = options_.problems;
    // The only shape of a list needs no second one to fail.
    const size_t max_failures = problems.front().shape == problems.back().shape ? 1 : 2;
    queue_.emplace(GroupBy(races_, [](const Race& race) { return race.gemm.shape; }), stop_,
                   WorkQueue::Options{.max_failures = max_failures});
    RunWorker(*queue_, 0, *this, kRacesAhead);
    RETURN_IF_ERROR(queue_->failure());
    result_.stop_reason = queue_->stop_reason();
    result_.seconds = queue_->seconds();
    return std::move(result_);
  }

  void Expect(size_t race) override {
    ahead_.push_back(std::async(std::launch::async, [this, &next = races_[race]] { return Prepared(next); }));
  }

  void Do(size_t race) override {
    const Result<JudgedList> judged = RunNext(races_[race]);
    if (!judged.ok()) return queue_->Retire(0, judged.status());
    result_.Add(judged->trials, *queue_, on_event_);
    if (judged->failure.ok()) return queue_->Succeed(0);
    result_.failures.emplace_back(races_[race].gemm, judged->failure);
    queue_->Fail(0, race, judged->failure);
  }

 private:
  using Candidates = Result<std::vector<Candidate>>;

  Status FindStored() {
    Status unlike;
    RETURN_IF_ERROR(
        archive_.ForEach({.campaign = options_.name, .protocol = options_.protocol}, [&](const Trial& trial) {
          stored_[trial.gemm].insert(trial.subject);
          if (unlike.ok()) unlike = CheckDevice(trial, device_.key);
          if (unlike.ok()) unlike = CheckClocks(trial);
        }));
    return unlike;
  }

  Status CheckClocks(const Trial& trial) const {
    if (trial.outcome.kind != OutcomeKind::kMeasured) return OkStatus();
    for (int clock = 0; clock <= int(kLastClock); ++clock) {
      // Not every kernel can be chained, and sources have no times of repeated calls.
      if (!options_.clocks.Has(Clock(clock)) || IsChained(Clock(clock))) continue;
      if (Clock(clock) == Clock::kDevice && !trial.HasPlan() && trial.outcome.Ours() != nullptr) continue;
      const auto& timings = trial.outcome.timings;
      if (std::none_of(timings.begin(), timings.end(), [&](const Timing& t) { return t.clock == Clock(clock); }))
        return InvalidArgument(fmt::format("the stored trials of '{}' have no {} times: choose another name",
                                           options_.name, Name(Clock(clock))));
    }
    return OkStatus();
  }

  // The races that are not stored yet. The problems of a shape follow each other.
  Status ListRaces() {
    bool any = false;  // of the shape
    for (size_t i = 0; i < options_.problems.size(); ++i) {
      const Gemm& gemm = options_.problems[i];
      ASSIGN_OR_RETURN(std::vector<Subject> subjects, options_.candidates(gemm));
      any = any || !subjects.empty();
      if (!subjects.empty()) AddRace({gemm, std::move(subjects)});
      const bool is_last =
          i + 1 == options_.problems.size() || WithoutLayout(options_.problems[i + 1]) != WithoutLayout(gemm);
      if (!is_last) continue;
      // nn or tn will do: there the libraries run in both.
      if (!any) AddRace({WithoutLayout(gemm), {}});
      any = false;
    }
    return OkStatus();
  }

  void AddRace(Race race) {
    const std::set<TrialSubject>& stored = stored_[race.gemm];
    const size_t all = NamesOf(race).size();
    const bool baselines_alone = race.subjects.empty();
    std::set<TrialSubject> known = stored;
    std::erase_if(race.subjects, [&](const Subject& subject) { return !known.insert(SubjectOf(subject)).second; });
    const size_t open = baselines_alone ? size_t(!stored.contains(Nobody())) : race.subjects.size();
    result_.total += all;
    result_.found += all - open;
    if (open > 0) races_.push_back(std::move(race));
  }

  EvaluationRequest RequestFor(const Gemm& gemm, const Subject& subject) const {
    return {{.gemm = gemm,
             .protocol = options_.protocol,
             .clocks = options_.clocks,
             .seed = options_.seed,
             .baselines = options_.baselines},
            subject};
  }

  Candidates Prepared(const Race& race) const {
    GEMMSMITH_CHECK(race.subjects.empty() || compiler_ != nullptr, "contenders without a compiler");
    std::vector<Candidate> candidates;
    for (const Subject& subject : race.subjects) {
      Candidate candidate{RequestFor(race.gemm, subject), {}};
      ASSIGN_OR_RETURN(candidate.prepared, Prepare(candidate.request, device_, *compiler_, source_compiler_));
      candidates.push_back(std::move(candidate));
    }
    return candidates;
  }

  // A Status where storing the trials failed.
  Result<JudgedList> RunNext(const Race& race) {
    Candidates candidates = ahead_.front().get();
    ahead_.pop_front();
    if (!candidates.ok()) return JudgedList{.failure = candidates.status()};
    if (race.subjects.empty()) return run_trials_.RaceBaselines(RequestFor(race.gemm, Plan()));
    return run_trials_(*std::move(candidates));
  }

  const BenchOptions& options_;
  const Device device_;
  Compiler* const compiler_;
  SourceCompiler* const source_compiler_;  // null where no candidate is a source
  Archive& archive_;
  StopRule& stop_;
  const OnMeasured& on_event_;
  TrialRunner run_trials_;

  MeasuredList result_;
  std::map<Gemm, std::set<TrialSubject>> stored_;
  std::vector<Race> races_;
  std::optional<WorkQueue> queue_;
  std::deque<std::future<Candidates>> ahead_;  // in the order in which they were expected
};

}  // namespace

Result<MeasuredList> RunBench(const BenchOptions& options, Evaluator& evaluator, Compiler* compiler,
                              SourceCompiler* source_compiler, Archive& archive, StopRule& stop,
                              const OnMeasured& on_event) {
  return BenchRun(options, evaluator, compiler, source_compiler, archive, stop, on_event).Run();
}

}  // namespace gemmsmith
