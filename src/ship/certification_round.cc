#include "ship/certification_round.h"

#include <algorithm>
#include <chrono>
#include <deque>
#include <future>
#include <memory>
#include <mutex>
#include <set>
#include <utility>

#include "base/all_cores.h"
#include "base/seconds.h"
#include "campaign/compile_ahead.h"

namespace gemmsmith {

namespace {

// What became of a pair; nothing: it is left.
using Fate = std::optional<Result<Certificate>>;

// A call under memcheck took 0.8 s on an H200, nearly all of it the tool's start; of sixteen side by side on two H100s
// 3.4 a second were done, of whatever size, and the evaluators waited for them (November 2026). So calls share
// processes, and these are few: each has a context on the GPU and the operands of a problem, up to 1.6 GB.
constexpr size_t kMostTogether = 16, kFirstTogether = 4;
constexpr int kMostProcesses = 3;
// A process whose kernels take longer has fewer of them next time: what is begun last is waited for, and twice the
// longest that was seen is kept of a limit. Sixteen of C up to 2048x16384 took some 69 s, by when it ended: 97 of 235 s
// were used (four H200s, November 2026).
constexpr double kSecondsTogether = 15;

EvaluationRequest RequestFor(const PlannedGemm& pair, uint64_t seed) {
  return {{.gemm = pair.gemm, .protocol = Protocol::kShort, .seed = seed, .time = false, .certify = true}, pair.plan};
}

// Of all lanes.
class Registrar {
 public:
  Registrar(CertificateJournal& journal, std::vector<Certificate> wanted)
      : journal_(journal), wanted_(std::move(wanted)), fates_(wanted_.size()) {}

  Status Fail(size_t pair, const Status& status) {
    const std::lock_guard lock(mutex_);
    fates_[pair] = status;
    return status;
  }
  Status Certify(size_t pair, const Outcome& outcome) {
    Certificate certificate = wanted_[pair];
    certificate.outcome = Name(outcome.kind);
    certificate.max_abs_error = outcome.verdict.max_abs_error;
    certificate.baseline_max_abs_error = outcome.verdict.baseline_max_abs_error;
    certificate.reason = outcome.reason;
    const std::lock_guard lock(mutex_);
    const Status written = journal_.Append(certificate);
    if (written.ok())
      fates_[pair] = std::move(certificate);
    else
      fates_[pair] = written;
    return written;
  }
  std::vector<Fate>& fates() { return fates_; }

 private:
  CertificateJournal& journal_;
  const std::vector<Certificate> wanted_;
  std::mutex mutex_;
  std::vector<Fate> fates_;
};

class CertificationLane : public ShapeLane {
 public:
  CertificationLane(size_t number, size_t lanes, const std::vector<PlannedGemm>& pairs, Registrar& registrar,
                    Evaluator& evaluator, Compiler& compiler, const WatchCalls& watch, uint64_t seed)
      : number_(number),
        cores_(std::max(1, CoreCount() / int(lanes))),
        pairs_(pairs),
        registrar_(registrar),
        evaluator_(evaluator),
        watch_(watch),
        seed_(seed),
        ahead_(evaluator.device(), &compiler, cores_) {}
  void Expect(std::span<const size_t> layouts) override {
    std::vector<EvaluationRequest> requests;
    for (const size_t pair : layouts) requests.push_back(RequestFor(pairs_[pair], seed_));
    ahead_.AddTogether(expected_++, requests);
  }

  void Do(std::span<const size_t> layouts, const ReportItem& report) override {
    Result<std::vector<Contender>> contenders = ahead_.TakeTogether(done_++);
    for (size_t i = 0; i < layouts.size(); ++i) {
      if (contenders.ok())
        Judge(layouts[i], std::move((*contenders)[i]), report);
      else
        report(layouts[i], registrar_.Fail(layouts[i], contenders.status()));
      if (passed_.size() < together_) continue;
      while (watched_.size() >= size_t(std::clamp(cores_ / 2, 1, kMostProcesses))) CompleteFirstWatched(report);
      Watch();
    }
  }

  void Finish(const ReportItem& report) override {
    if (!passed_.empty()) Watch();
    while (!watched_.empty()) CompleteFirstWatched(report);
  }

 private:
  struct Passed {
    size_t pair;
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

  void Judge(size_t pair, Contender contender, const ReportItem& report) {
    const Result<Outcome> outcome = contender.candidate.ended
                                        ? *contender.candidate.ended
                                        : evaluator_.Evaluate(contender.request, contender.candidate);
    if (!outcome.ok()) return report(pair, registrar_.Fail(pair, outcome.status()));
    if (outcome->kind != OutcomeKind::kVerified || watch_ == nullptr)
      return report(pair, registrar_.Certify(pair, *outcome));
    passed_.push_back({pair, *outcome});
    contenders_.push_back(std::move(contender));
  }

  // Who passed since the last time.
  void Watch() {
    watched_.push_back({std::exchange(passed_, {}),
                        std::async(std::launch::async, [this, contenders = std::exchange(contenders_, {})] {
                          const auto start = std::chrono::steady_clock::now();
                          std::vector<MemcheckResult> results = watch_(number_, contenders);
                          return Found{std::move(results), SecondsSince(start)};
                        })});
  }

  void CompleteFirstWatched(const ReportItem& report) {
    Watched watched = std::move(watched_.front());
    watched_.pop_front();
    auto [results, seconds] = watched.found.get();
    const double in_time = double(results.size()) * kSecondsTogether / std::max(seconds, 1e-3);
    together_ = size_t(std::clamp(in_time, 1.0, double(kMostTogether)));
    for (size_t i = 0; i < results.size(); ++i) {
      const auto& [pair, outcome] = watched.passed[i];
      MemcheckResult& errors = results[i];
      if (!errors.ok()) {
        report(pair, registrar_.Fail(pair, errors.status()));
        continue;
      }
      if (*errors) (*errors)->verdict = outcome.verdict;
      report(pair, registrar_.Certify(pair, errors->value_or(outcome)));
    }
  }

  const size_t number_;
  const int cores_;
  const std::vector<PlannedGemm>& pairs_;
  Registrar& registrar_;
  Evaluator& evaluator_;
  const WatchCalls& watch_;
  const uint64_t seed_;
  CompileAhead ahead_;
  size_t expected_ = 0, done_ = 0;  // turns
  size_t together_ = kFirstTogether;
  std::vector<Passed> passed_;         // and not watched yet
  std::vector<Contender> contenders_;  // theirs
  std::deque<Watched> watched_;        // the first was begun first
};

}  // namespace

CertificationRound CertifyAll(const std::vector<PlannedGemm>& pairs, CertificateJournal& journal,
                              std::span<Evaluator* const> evaluators, Compiler& compiler, const WatchCalls& watch,
                              uint64_t seed, const LaneHooks& hooks) {
  CertificationRound round;
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
      ++round.found;
      continue;
    }
    open.push_back(pair), gemms.push_back(pair.gemm), wanted.push_back(std::move(certificate));
  }
  Registrar registrar(journal, std::move(wanted));
  const auto make_lane = [&](size_t lane) {
    return std::make_unique<CertificationLane>(lane, evaluators.size(), open, registrar, *evaluators[lane], compiler,
                                               watch, seed);
  };
  const LaneHooks counting_all = {hooks.is_over,
                                  [&](size_t begun, const Gemm& gemm) { hooks.on_begin(round.found + begun, gemm); }};
  round.world = DealOut(gemms, evaluators.size(), make_lane, counting_all);
  for (size_t i = 0; i < open.size(); ++i) {
    Fate& fate = registrar.fates()[i];
    if (!fate)
      ++round.left;
    else if (fate->ok())
      round.certificates.push_back(**std::move(fate));
    else
      round.failures.emplace_back(open[i].gemm, fate->status());
  }
  return round;
}

}  // namespace gemmsmith
