// Bayesian optimisation over the plans' axes, without a look at any prediction: the logarithm of the time is taken for
// a Gaussian process, and the next plan is the one whose expected improvement is the largest.
#include <algorithm>
#include <cmath>
#include <numbers>

#include "base/statistics.h"
#include "search/fresh_plans.h"
#include "search/gaussian_process.h"
#include "search/pace.h"
#include "search/plan_likeness.h"
#include "search/proposers.h"

namespace gemmsmith {

namespace {

// Drawn at random before anything is modelled.
constexpr size_t kRandomStarts = 4;
// The model is fitted again when it knows so many times what it knew.
constexpr double kRefitGrowth = 1.25;
constexpr size_t kMaxLearned = 256;
// Of a time's logarithm.
constexpr double kNoise = 0.02, kMinDeviation = 0.05;

// Among these the one that explains best what was measured.
std::vector<PlanLikeness> CandidatesFor(const Space& space) {
  std::vector<PlanLikeness> candidates;
  for (const double reach : {0.5, 1.0, 2.0, 4.0})
    for (const double axes : {0.25, 0.5, 0.75})
      candidates.emplace_back(space, LikenessShares{.family = 0.2, .axes = axes, .whole = 0.8 - axes, .reach = reach});
  return candidates;
}

double ExpectedImprovement(double mean, double deviation, double best) {
  if (deviation <= 0) return std::max(0.0, best - mean);
  const double z = (best - mean) / deviation;
  const double below = 0.5 * std::erfc(-z / std::numbers::sqrt2);
  return deviation * (z * below + std::exp(-0.5 * z * z) / std::sqrt(2 * std::numbers::pi));
}

class BayesProposer : public Proposer {
 public:
  explicit BayesProposer(const SearchContext& context)
      : space_(*context.space),
        candidates_(CandidatesFor(space_)),
        fresh_(space_, Random(context.seed).Fork("bayes proposer")),
        pending_(space_.size()) {}

  std::string_view name() const override { return "bayes"; }

  std::vector<Plan> Propose(int count) override {
    if (seen_.size() >= next_fit_) Fit();
    return UpTo(count, [&] { return Next(); });
  }

  void Observe(const Plan& plan, const Outcome& outcome) override {
    const std::optional<size_t> index = space_.IndexOf(plan);
    if (!index) return;
    fresh_.Take(plan);
    pending_[*index] = false;
    if (model_) model_->ClearPending(*index);
    double log_time = highest_log_;  // a failure speaks as if the plan were as slow as the slowest
    if (outcome.kind == OutcomeKind::kMeasured) {
      log_time = std::log(pace_.TimeNs(outcome));
      lowest_log_ = std::min(lowest_log_, log_time);
      highest_log_ = std::max(highest_log_, log_time);
    }
    if (!std::isfinite(log_time) || seen_.size() == kMaxLearned) return;
    seen_.push_back({*index, log_time});
    if (model_) model_->Learn(*index, Standardised(log_time));
  }

 private:
  struct Seen {
    size_t index;
    double log_time;
  };

  double Standardised(double log_time) const { return (log_time - centre_) / deviation_; }

  void Fit() {
    std::vector<double> log_times;
    for (const Seen& seen : seen_) log_times.push_back(seen.log_time);
    centre_ = Mean(log_times), deviation_ = std::max(kMinDeviation, StandardDeviation(log_times));
    const PlanLikeness* best = nullptr;
    double most_likely = -INFINITY;
    for (const PlanLikeness& candidate : candidates_)
      if (const double likelihood = Likelihood(candidate); likelihood > most_likely)
        best = &candidate, most_likely = likelihood;
    model_.emplace(
        space_.size(), [best](size_t a, size_t b) { return best->Of(a, b); }, kNoise / deviation_);
    for (const Seen& seen : seen_) model_->Learn(seen.index, Standardised(seen.log_time));
    for (size_t i = 0; i < pending_.size(); ++i)
      if (pending_[i]) model_->MarkPending(i);
    next_fit_ = std::max(seen_.size() + 1, size_t(double(seen_.size()) * kRefitGrowth));
  }

  double Likelihood(const PlanLikeness& likeness) const {
    GaussianProcess among_seen(
        seen_.size(), [&](size_t a, size_t b) { return likeness.Of(seen_[a].index, seen_[b].index); },
        kNoise / deviation_);
    for (size_t i = 0; i < seen_.size(); ++i) among_seen.Learn(i, Standardised(seen_[i].log_time));
    return among_seen.LogLikelihood();
  }

  std::optional<Plan> Next() {
    if (!model_) return fresh_.TakeAny();
    std::optional<size_t> most_promising;
    double most = -1;
    for (size_t i = 0; i < space_.size(); ++i) {
      if (fresh_.IsTaken(i)) continue;
      const double improvement =
          ExpectedImprovement(model_->Mean(i), std::sqrt(model_->OpenVariance(i)), Standardised(lowest_log_));
      if (improvement > most) most = improvement, most_promising = i;
    }
    if (!most_promising) return std::nullopt;
    const Plan& plan = space_.plans()[*most_promising];
    fresh_.Take(plan);
    pending_[*most_promising] = true;
    model_->MarkPending(*most_promising);
    return plan;
  }

  const Space& space_;
  const std::vector<PlanLikeness> candidates_;
  FreshPlans fresh_;
  std::vector<bool> pending_;  // by index in the space
  std::vector<Seen> seen_;
  Pace pace_;
  double lowest_log_ = INFINITY, highest_log_ = -INFINITY;
  std::optional<GaussianProcess> model_;
  double centre_ = 0, deviation_ = 1;
  size_t next_fit_ = kRandomStarts;
};

}  // namespace

std::unique_ptr<Proposer> MakeBayesProposer(const SearchContext& context) {
  return std::make_unique<BayesProposer>(context);
}

}  // namespace gemmsmith
