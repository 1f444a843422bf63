#include "campaign/bench.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <deque>
#include <future>
#include <map>
#include <set>

#include "base/seconds.h"
#include "campaign/trial_runner.h"

namespace gemmsmith {

namespace {

// Problems whose kernels are compiled beside the judging of those before them.
constexpr size_t kProblemsAhead = 16;

// One race.
struct Race {
  Gemm gemm;
  std::vector<Subject> subjects;  // empty: the baselines alone
};

std::set<TrialSubject> NamesOf(const Race& race) {
  std::set<TrialSubject> names;
  for (const Subject& subject : race.subjects) names.insert(SubjectOf(subject));
  if (race.subjects.empty()) names.insert(Nobody());
  return names;
}

class BenchRun {
 public:
  BenchRun(const BenchOptions& options, Evaluator& evaluator, Compiler* compiler, ObjectCompiler* objects,
           Archive& archive, StopRule& stop, const std::function<void(const BenchEvent&)>& on_event)
      : options_(options),
        device_(evaluator.device()),
        compiler_(compiler),
        objects_(objects),
        archive_(archive),
        stop_(stop),
        on_event_(on_event),
        run_trials_(evaluator, compiler, &archive, options.name) {}

  Result<BenchResult> Run() {
    RETURN_IF_ERROR(FindStored());
    RETURN_IF_ERROR(ListRaces());
    for (next_ = 0; next_ < races_.size(); ++next_) {
      if (std::optional<std::string> reason = stop_.ShouldStop({int(result_.judged), SecondsSinceStart(), 0})) {
        result_.stop_reason = *std::move(reason);
        break;
      }
      PrepareAhead();
      ASSIGN_OR_RETURN(const JudgedList judged, RunNext());
      for (const Trial& trial : judged.trials) Tell(trial);
      RETURN_IF_ERROR(GoOnAfter(races_[next_].gemm, judged.world));
    }
    for (const auto& [kind, count] : by_outcome_) result_.by_outcome.emplace_back(kind, count);
    result_.seconds = SecondsSinceStart();
    return std::move(result_);
  }

 private:
  using Contenders = Result<std::vector<Contender>>;

  double SecondsSinceStart() const { return SecondsSince(start_); }

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
      // Not every kernel can be chained.
      if (!options_.clocks.Has(Clock(clock)) || Clock(clock) == Clock::kDeviceChained) continue;
      const auto& timings = trial.outcome.timings;
      if (std::none_of(timings.begin(), timings.end(), [&](const Timing& t) { return t.clock == Clock(clock); }))
        return InvalidArgument(fmt::format("the stored trials of '{}' have no {} times: choose another name",
                                           options_.name, Name(Clock(clock))));
    }
    return OkStatus();
  }

  GemmKind KindOf(const Layout& layout) const { return {layout, options_.type, options_.accumulation}; }

  // What is not stored yet, the problems of a shape behind each other.
  Status ListRaces() {
    for (const Shape& shape : options_.shapes) {
      bool any = false;
      for (const Layout& layout : options_.layouts) {
        const Gemm gemm{.shape = shape, .kind = KindOf(layout)};
        ASSIGN_OR_RETURN(const std::vector<Subject> subjects, options_.contenders(gemm));
        Race plans{gemm, {}};
        for (const Subject& subject : subjects) {
          any = true;
          if (IsPlan(subject))
            plans.subjects.push_back(subject);
          else
            AddRace({gemm, {subject}});
        }
        if (!plans.subjects.empty()) AddRace(std::move(plans));
      }
      // Which problem it is makes no difference to the libraries: they run in nn and in tn.
      if (!any) AddRace({Gemm{.shape = shape, .kind = KindOf(kTn)}, {}});
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

  void PrepareAhead() {
    for (; prepared_ < std::min(races_.size(), next_ + kProblemsAhead); ++prepared_)
      ahead_.push_back(std::async(std::launch::async, [this, &race = races_[prepared_]] { return Prepared(race); }));
  }

  Contenders Prepared(const Race& race) const {
    GEMMSMITH_CHECK(race.subjects.empty() || compiler_ != nullptr, "contenders without a compiler");
    std::vector<Contender> contenders;
    for (const Subject& subject : race.subjects) {
      Contender contender{RequestFor(race.gemm, subject), {}};
      ASSIGN_OR_RETURN(contender.candidate, Prepare(contender.request, device_, *compiler_, objects_));
      contenders.push_back(std::move(contender));
    }
    return contenders;
  }

  // A Status where nothing would be kept.
  Result<JudgedList> RunNext() {
    const Race& race = races_[next_];
    Contenders contenders = ahead_.front().get();
    ahead_.pop_front();
    if (!contenders.ok()) return JudgedList{.world = contenders.status()};
    if (race.subjects.empty()) return run_trials_.RaceBaselines(RequestFor(race.gemm, Plan()));
    return run_trials_(*std::move(contenders));
  }

  Status GoOnAfter(const Gemm& gemm, const Status& status) {
    if (status.ok()) {
      failed_shape_.reset();
      return OkStatus();
    }
    result_.failures.emplace_back(gemm, status);
    const bool another_shape = failed_shape_ && *failed_shape_ != gemm.shape;
    failed_shape_ = gemm.shape;
    return another_shape || options_.shapes.size() == 1 ? status : OkStatus();
  }

  void Tell(const Trial& trial) {
    ++result_.judged;
    ++by_outcome_[trial.outcome.kind];
    if (!on_event_) return;
    on_event_({.trial = &trial,
               .done = result_.found + result_.judged,
               .total = result_.total,
               .seconds = SecondsSinceStart()});
  }

  const BenchOptions& options_;
  const Device device_;
  Compiler* const compiler_;
  ObjectCompiler* const objects_;  // null where nobody is a source
  Archive& archive_;
  StopRule& stop_;
  const std::function<void(const BenchEvent&)>& on_event_;
  TrialRunner run_trials_;

  const std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  BenchResult result_;
  std::map<OutcomeKind, int> by_outcome_;
  std::map<Gemm, std::set<TrialSubject>> stored_;
  std::vector<Race> races_;
  size_t next_ = 0, prepared_ = 0;
  std::deque<std::future<Contenders>> ahead_;  // of the races from next_ on
  std::optional<Shape> failed_shape_;
};

}  // namespace

Result<BenchResult> RunBench(const BenchOptions& options, Evaluator& evaluator, Compiler* compiler,
                             ObjectCompiler* objects, Archive& archive, StopRule& stop,
                             const std::function<void(const BenchEvent&)>& on_event) {
  return BenchRun(options, evaluator, compiler, objects, archive, stop, on_event).Run();
}

}  // namespace gemmsmith
