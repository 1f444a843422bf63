#include "ship/promotion_round.h"

#include <algorithm>

#include "base/all_cores.h"

namespace gemmsmith {

namespace {

// What became of a challenge; nothing: it is left.
using Fate = std::optional<Result<Promotion>>;

class PromotionLane : public ShapeLane {
 public:
  // No lane touches another's challenges or fates.
  PromotionLane(const std::vector<Challenge>& challenges, std::vector<Fate>& fates, Promoter promoter)
      : challenges_(challenges), fates_(fates), promoter_(std::move(promoter)) {}

  void Expect(std::span<const size_t> layouts) override { promoter_.Expect(ChallengesOf(layouts)); }

  void Do(std::span<const size_t> layouts, const ReportItem& report) override {
    std::vector<Result<Promotion>> promotions = promoter_.Promote(ChallengesOf(layouts));
    for (size_t i = 0; i < layouts.size(); ++i) fates_[layouts[i]] = std::move(promotions[i]);
    const auto failed = std::ranges::find_if(layouts, [&](size_t i) { return !fates_[i]->ok(); });
    report(layouts.front(), failed == layouts.end() ? OkStatus() : fates_[*failed]->status());
  }

 private:
  std::vector<Challenge> ChallengesOf(std::span<const size_t> layouts) const {
    std::vector<Challenge> of_layouts;
    for (const size_t i : layouts) of_layouts.push_back(challenges_[i]);
    return of_layouts;
  }

  const std::vector<Challenge>& challenges_;
  std::vector<Fate>& fates_;
  Promoter promoter_;
};

}  // namespace

PromotionRound PromoteAll(const std::vector<Challenge>& challenges, CatalogueOnDisk& catalogue,
                          std::span<Evaluator* const> evaluators, Compiler& compiler, Archive* archive,
                          const std::string& campaign, const LaneHooks& hooks) {
  const int threads = std::max(1, CoreCount() / int(evaluators.size()));
  std::vector<Fate> fates(challenges.size());
  std::vector<Gemm> gemms;
  for (const Challenge& challenge : challenges) gemms.push_back(challenge.gemm);
  const auto make_lane = [&](size_t lane) {
    return std::make_unique<PromotionLane>(
        challenges, fates, Promoter(catalogue, *evaluators[lane], compiler, archive, campaign, threads));
  };
  PromotionRound round{.world = DealOut(gemms, evaluators.size(), make_lane, hooks)};
  for (size_t i = 0; i < challenges.size(); ++i) {
    if (!fates[i])
      ++round.left;
    else if (fates[i]->ok())
      round.promotions.emplace_back(gemms[i], **std::move(fates[i]));
    else
      round.failures.emplace_back(gemms[i], fates[i]->status());
  }
  return round;
}

}  // namespace gemmsmith
