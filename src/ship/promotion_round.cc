#include "ship/promotion_round.h"

#include <algorithm>
#include <deque>
#include <future>
#include <mutex>
#include <set>

#include "base/all_cores.h"

namespace gemmsmith {

namespace {

// How many problems' kernels are compiled while one races.
constexpr size_t kProblemsAhead = 8;

// What became of a challenge; nothing: it is left.
using Fate = std::optional<Result<Promotion>>;

// The challenges that no evaluator has taken yet, by index. For many threads.
class Untaken {
 public:
  explicit Untaken(const std::vector<Challenge>& challenges) : challenges_(challenges) {
    for (size_t i = 0; i < challenges.size(); ++i) left_.push_back(i);
  }

  // The problems of the next shape: one session serves them all. None are left where it is empty.
  std::vector<size_t> TakeShape() {
    const std::lock_guard lock(mutex_);
    std::vector<size_t> taken;
    while (!left_.empty() && (taken.empty() || ShapeOf(left_.front()) == ShapeOf(taken.front()))) {
      taken.push_back(left_.front());
      left_.pop_front();
    }
    return taken;
  }
  void GiveBack(const std::deque<size_t>& taken) {
    const std::lock_guard lock(mutex_);
    left_.insert(left_.begin(), taken.begin(), taken.end());
  }

 private:
  const Shape& ShapeOf(size_t challenge) const { return challenges_[challenge].gemm.shape; }

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
    std::deque<size_t> own;
    const auto take_more = [&] {
      while (own.size() <= kProblemsAhead) {
        const std::vector<size_t> taken = untaken.TakeShape();
        if (taken.empty()) return;
        for (const size_t i : taken) promoter.Expect(challenges[i].gemm, challenges[i].plans);
        own.insert(own.end(), taken.begin(), taken.end());
      }
    };
    std::set<Shape> failed_in_a_row;
    for (take_more(); !own.empty() && !hooks.is_over(); take_more()) {
      const size_t i = own.front();
      own.pop_front();
      const auto& [gemm, plans] = challenges[i];
      {
        const std::lock_guard lock(mutex);
        hooks.on_begin(begun++, gemm);
      }
      fates[i] = promoter.Promote(gemm, plans);
      if (fates[i]->ok())
        failed_in_a_row.clear();
      else
        failed_in_a_row.insert(gemm.shape);
      if (failed_in_a_row.size() < 2) continue;
      untaken.GiveBack(own);
      return fates[i]->status();
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
