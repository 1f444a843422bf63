#include "certify/certification_round.h"

#include <algorithm>
#include <chrono>
#include <deque>
#include <future>
#include <memory>
#include <set>
#include <utility>

#include "base/all_cores.h"
#include "base/run_workers.h"
#include "base/seconds.h"
#include "campaign/compile_ahead.h"

namespace gemmsmith {

namespace {

// Problems whose kernels compile while another one is judged.
constexpr size_t kProblemsAhead = 8;

// Calls share memcheck processes, since nearly all the time of a call is the tool's start (docs/certification.md). The
// processes are few: each has a context on the GPU and the operands of a problem, up to 1.6 GB.
constexpr size_t kMaxTogether = 16, kFirstTogether = 4;
constexpr int kMaxProcesses = 3;
// A process whose kernels take longer gets fewer of them next time: the last process is waited for, and a deadline
// keeps room for two of the longest.
constexpr double kSecondsTogether = 15;

EvaluationRequest RequestFor(const PlannedGemm& pair, uint64_t seed) {
  return {{.gemm = pair.gemm, .protocol = Protocol::kShort, .seed = seed, .time = false, .certify = true}, pair.plan};
}

// Writes what became of pairs. For many threads.
class Registrar {
 public:
  Registrar(CertificateJournal& journal, const std::vector<Certificate>& wanted) : journal_(journal), wanted_(wanted) {}

  Result<Certificate> Certify(size_t pair, const Outcome& outcome) {
    Certificate certificate = wanted_[pair];
    certificate.outcome = Name(outcome.kind);
    certificate.max_abs_error = outcome.verdict.max_abs_error;
    certificate.baseline_max_abs_error = outcome.verdict.baseline_max_abs_error;
    certificate.reason = outcome.reason;
    const std::lock_guard lock(mutex_);
    RETURN_IF_ERROR(journal_.Append(certificate));
    return certificate;
  }

 private:
  CertificateJournal& journal_;
  const std::vector<Certificate>& wanted_;
  std::mutex mutex_;
};

class CertificationWorker : public Worker {
 public:
  CertificationWorker(size_t number, size_t workers, const std::vector<PlannedGemm>& pairs, Round<Certificate>& round,
                      Registrar& registrar, Evaluator& evaluator, Compiler& compiler, const WatchCalls& watch,
                      uint64_t seed)
      : number_(number),
        cores_(std::max(1, CoreCount() / int(workers))),
        pairs_(pairs),
        round_(round),
        registrar_(registrar),
        evaluator_(evaluator),
        watch_(watch),
        seed_(seed),
        ahead_(evaluator.device(), &compiler, cores_) {}

  void Expect(size_t problem) override {
    std::vector<EvaluationRequest> requests;
    for (const size_t pair : round_.LayoutsOf(problem)) requests.push_back(RequestFor(pairs_[pair], seed_));
    ahead_.AddTogether(expected_++, requests);
  }

  void Do(size_t problem) override {
    Result<std::vector<Candidate>> candidates = ahead_.TakeTogether(done_++);
    const Layouts& layouts = round_.LayoutsOf(problem);
    for (size_t i = 0; i < layouts.size(); ++i) {
      const Item item{problem, layouts[i]};
      if (candidates.ok())
        Judge(item, std::move((*candidates)[i]));
      else
        Report(item, candidates.status());
      if (passed_.size() < together_) continue;
      while (watched_.size() >= size_t(std::clamp(cores_ / 2, 1, kMaxProcesses))) CompleteFirstWatched();
      Watch();
    }
  }

  void Finish() override {
    if (!passed_.empty()) Watch();
    while (!watched_.empty()) CompleteFirstWatched();
  }

 private:
  struct Item {
    size_t problem, pair;
  };
  struct Passed {
    Item item;
    Outcome outcome;
  };
  struct Found {
    std::vector<MemcheckResult> results;
    double seconds = 0;
  };
  struct Watched {
    std::vector<Passed> passed;
    std::future<Found> found;
  };

  void Report(Item item, Result<Certificate> outcome) {
    round_.Report(number_, item.problem, item.pair, std::move(outcome));
  }

  void Judge(Item item, Candidate candidate) {
    const Result<Outcome> outcome = candidate.prepared.ended
                                        ? *candidate.prepared.ended
                                        : evaluator_.Evaluate(candidate.request, candidate.prepared);
    if (!outcome.ok()) return Report(item, outcome.status());
    if (outcome->kind != OutcomeKind::kVerified || watch_ == nullptr)
      return Report(item, registrar_.Certify(item.pair, *outcome));
    passed_.push_back({item, *outcome});
    candidates_.push_back(std::move(candidate));
  }

  // The pairs that passed since the last time.
  void Watch() {
    watched_.push_back({std::exchange(passed_, {}),
                        std::async(std::launch::async, [this, candidates = std::exchange(candidates_, {})] {
                          const auto start = std::chrono::steady_clock::now();
                          std::vector<MemcheckResult> results = watch_(number_, candidates);
                          return Found{std::move(results), SecondsSince(start)};
                        })});
  }

  void CompleteFirstWatched() {
    Watched watched = std::move(watched_.front());
    watched_.pop_front();
    auto [results, seconds] = watched.found.get();
    const double in_time = double(results.size()) * kSecondsTogether / std::max(seconds, 1e-3);
    together_ = size_t(std::clamp(in_time, 1.0, double(kMaxTogether)));
    for (size_t i = 0; i < results.size(); ++i) {
      const auto& [item, outcome] = watched.passed[i];
      MemcheckResult& errors = results[i];
      if (!errors.ok()) {
        Report(item, errors.status());
        continue;
      }
      if (*errors) (*errors)->verdict = outcome.verdict;
      Report(item, registrar_.Certify(item.pair, errors->value_or(outcome)));
    }
  }

  const size_t number_;
  const int cores_;
  const std::vector<PlannedGemm>& pairs_;
  Round<Certificate>& round_;
  Registrar& registrar_;
  Evaluator& evaluator_;
  const WatchCalls& watch_;
  const uint64_t seed_;
  CompileAhead ahead_;
  size_t expected_ = 0, done_ = 0;  // turns
  size_t together_ = kFirstTogether;
  std::vector<Passed> passed_;         // not watched yet
  std::vector<Candidate> candidates_;  // theirs
  std::deque<Watched> watched_;        // in the order in which they began
};

}  // namespace

CertificationRound CertifyAll(const std::vector<PlannedGemm>& pairs, CertificateJournal& journal,
                              std::span<Evaluator* const> evaluators, Compiler& compiler, const WatchCalls& watch,
                              uint64_t seed, StopRule& stop, const OnBegin& on_begin) {
  CertificationRound result;
  std::vector<PlannedGemm> open;
  std::vector<Gemm> gemms;
  std::vector<Certificate> wanted;
  const Setting setting = evaluators.front()->setting();
  std::set<std::pair<Gemm, Plan>> seen;
  for (const PlannedGemm& pair : pairs) {
    Certificate certificate{.problem = Print(pair.gemm),
                            .plan = Print(pair.plan),
                            .device = setting.device_key,
                            .harness = setting.harness,
                            .seed = seed,
                            .memchecked = watch != nullptr};
    if (journal.Has(certificate) || !seen.emplace(pair.gemm, pair.plan).second) {
      ++result.found;
      continue;
    }
    open.push_back(pair), gemms.push_back(pair.gemm), wanted.push_back(std::move(certificate));
  }
  Round<Certificate> round(std::move(gemms), stop,
                           [&](size_t begun, const Gemm& gemm) { on_begin(result.found + begun, gemm); });
  Registrar registrar(journal, wanted);
  RunOnAll(round.queue(), evaluators.size(), kProblemsAhead, [&](size_t worker) {
    return std::make_unique<CertificationWorker>(worker, evaluators.size(), open, round, registrar, *evaluators[worker],
                                                 compiler, watch, seed);
  });
  result.failure = round.queue().failure();
  round.Collect([&](const Gemm&, Certificate certificate) { result.certificates.push_back(std::move(certificate)); },
                result.failures, result.left);
  return result;
}

}  // namespace gemmsmith
