#include "ship/promotion_round.h"

#include <algorithm>
#include <deque>
#include <future>
#include <mutex>
#include <set>

#include "base/all_cores.h"

namespace gemmsmith {

namespace {

// Of how many problems, in whatever layouts, kernels are compiled while another one races.
constexpr size_t kProblemsAhead = 8;

// What became of a challenge; nothing: it is left.
using Fate = std::optional<Result<Promotion>>;

// Challenges, by index, for one problem in several layouts: they race together.
using Layouts = std::vector<size_t>;

// The challenges that no evaluator has taken yet. For many threads.
class Untaken {
 public:
  explicit Untaken(const std::vector<Challenge>& challenges) : challenges_(challenges) {
    for (size_t i = 0; i < challenges.size(); ++i) left_.push_back(i);
  }

  // The problems of the next shape, which one evaluator's sessions serve best. None are left where it is empty.
  std::vector<Layouts> TakeShape() {
    const std::lock_guard lock(mutex_);
    std::vector<Layouts> taken;
    while (!left_.empty() && (taken.empty() || ShapeOf(left_.front()) == ShapeOf(taken.front().front()))) {
      const auto joined = std::ranges::find_if(taken, [&](const Layouts& layouts) {
        return layouts.size() < kMostLayouts && ProblemOf(layouts.front()) == ProblemOf(left_.front());
      });
      if (joined == taken.end())
        taken.push_back({left_.front()});
      else
        joined->push_back(left_.front());
      left_.pop_front();
    }
    return taken;
  }
  void GiveBack(const std::deque<Layouts>& taken) {
    const std::lock_guard lock(mutex_);
    for (auto layouts = taken.rbegin(); layouts != taken.rend(); ++layouts)
      left_.insert(left_.begin(), layouts->begin(), layouts->end());
  }

 private:
  const Shape& ShapeOf(size_t challenge) const { return challenges_[challenge].gemm.shape; }
  Gemm ProblemOf(size_t challenge) const { return WithoutLayout(challenges_[challenge].gemm); }

  const std::vector<Challenge>& challenges_;
  std::mutex mutex_;
  std::deque<size_t> left_;
};

}  // namespace

PromotionRound PromoteAll(const std::vector<Challenge>& challenges, CatalogueOnDisk& catalogue,
                          std::span<Evaluator* const> evaluators, Compiler& compiler, Archive* archive,
                          const std::string& campaign, const PromotionHooks& hooks) {
  const int threads = std::max(1, CoreCount() / int(evaluators.size()));
  std::vector<Fate> fates(challenges.size());
  Untaken untaken(challenges);
  std::mutex mutex;
  size_t begun = 0;
  const auto promote = [&](size_t lane) -> Status {
    Promoter promoter(catalogue, *evaluators[lane], compiler, archive, campaign, threads);
    std::deque<Layouts> own;
    const auto challenges_of = [&](const Layouts& layouts) {
      std::vector<Challenge> of_layouts;
      for (const size_t i : layouts) of_layouts.push_back(challenges[i]);
      return of_layouts;
    };
    const auto take_more = [&] {
      while (own.size() <= kProblemsAhead) {
        const std::vector<Layouts> taken = untaken.TakeShape();
        if (taken.empty()) return;
        for (const Layouts& layouts : taken) promoter.Expect(challenges_of(layouts));
        own.insert(own.end(), taken.begin(), taken.end());
      }
    };
    std::set<Shape> failed_in_a_row;
    for (take_more(); !own.empty() && !hooks.is_over(); take_more()) {
      const Layouts layouts = std::move(own.front());
      own.pop_front();
      {
        const std::lock_guard lock(mutex);
        for (const size_t i : layouts) hooks.on_begin(begun++, challenges[i].gemm);
      }
      std::vector<Result<Promotion>> promotions = promoter.Promote(challenges_of(layouts));
      for (size_t i = 0; i < layouts.size(); ++i) fates[layouts[i]] = std::move(promotions[i]);
      const auto failed = std::ranges::find_if(layouts, [&](size_t i) { return !fates[i]->ok(); });
      if (failed == layouts.end())
        failed_in_a_row.clear();
      else
        failed_in_a_row.insert(challenges[*failed].gemm.shape);
      if (failed_in_a_row.size() < 2) continue;
      untaken.GiveBack(own);
      return fates[*failed]->status();
    }
    untaken.GiveBack(own);
    return OkStatus();
  };
  std::vector<std::future<Status>> others;
  for (size_t lane = 1; lane < evaluators.size(); ++lane)
    others.push_back(std::async(std::launch::async, promote, lane));
  PromotionRound round{.world = promote(0)};
  for (std::future<Status>& other : others)
    if (const Status world = other.get(); !world.ok()) round.world = world;
  for (size_t i = 0; i < challenges.size(); ++i) {
    const Gemm& gemm = challenges[i].gemm;
    if (!fates[i])
      ++round.left;
    else if (fates[i]->ok())
      round.promotions.emplace_back(gemm, **std::move(fates[i]));
    else
      round.failures.emplace_back(gemm, fates[i]->status());
  }
  return round;
}

}  // namespace gemmsmith
