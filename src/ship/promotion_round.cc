#include "ship/promotion_round.h"

#include <algorithm>
#include <future>
#include <mutex>

#include "base/all_cores.h"

namespace gemmsmith {

namespace {

// How many problems' kernels are compiled while one races.
constexpr size_t kProblemsAhead = 8;

// What became of a challenge; nothing: it is left.
using Fate = std::optional<Result<Promotion>>;

}  // namespace

PromotionRound PromoteAll(const std::vector<Challenge>& challenges, CatalogueOnDisk& catalogue,
                          std::span<Evaluator* const> evaluators, Compiler& compiler, Archive* archive,
                          const std::string& campaign, const PromotionHooks& hooks) {
  const size_t lanes = evaluators.size();
  const int threads = std::max(1, CoreCount() / int(lanes));
  std::vector<Fate> fates(challenges.size());
  std::mutex mutex;
  size_t begun = 0;
  const auto promote = [&](size_t lane) -> Status {
    Promoter promoter(catalogue, *evaluators[lane], compiler, archive, campaign, threads);
    bool failed_before = false;
    size_t expected = lane;
    for (size_t i = lane; i < challenges.size() && !hooks.is_over(); i += lanes) {
      for (; expected < std::min(i + (1 + kProblemsAhead) * lanes, challenges.size()); expected += lanes)
        promoter.Expect(challenges[expected].gemm, challenges[expected].plans);
      const auto& [gemm, plans] = challenges[i];
      {
        const std::lock_guard lock(mutex);
        hooks.on_begin(begun++, gemm);
      }
      fates[i] = promoter.Promote(gemm, plans);
      if (!fates[i]->ok() && failed_before) return fates[i]->status();
      failed_before = !fates[i]->ok();
    }
    return OkStatus();
  };
  std::vector<std::future<Status>> others;
  for (size_t lane = 1; lane < lanes; ++lane) others.push_back(std::async(std::launch::async, promote, lane));
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
