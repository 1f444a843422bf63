#include "cli/settlement.h"

#include <fmt/format.h>

#include "base/text.h"
#include "cli/promotion_text.h"

namespace gemmsmith {

Result<std::unique_ptr<Settlement>> Settlement::Open(const std::filesystem::path& asked_for,
                                                     const std::string& device_key) {
  const std::filesystem::path path = CataloguePath(asked_for, device_key);
  ASSIGN_OR_RETURN(std::unique_ptr<CatalogueOnDisk> catalogue, CatalogueOnDisk::Open(path, device_key));
  return std::unique_ptr<Settlement>(new Settlement(path, std::move(catalogue)));
}

StandingKernels Settlement::Standing(const NeighbourWinners& winners, const Device& device) {
  return {.find =
              [this, &winners, &device](const Gemm& gemm) {
                const std::optional<Entry> entry = catalogue_->Find(gemm);
                return entry ? std::optional(entry->plan) : winners.OfItself(gemm, device);
              },
          .settle = [this](const Gemm& gemm, std::span<const Trial> finals) -> Status {
            if (finals.empty()) return OkStatus();  // nobody passed the screening
            ASSIGN_OR_RETURN(Promotion promotion, Settle(*catalogue_, gemm, finals));
            const std::lock_guard lock(mutex_);
            settled_[gemm] = std::move(promotion);
            return OkStatus();
          }};
}

std::string Settlement::SoFar() const {
  return fmt::format("{} decided on until then; {} holds what entered", Plural(int64_t(settled_.size()), "problem"),
                     path_.string());
}

std::string Settlement::Print(const CampaignResult& result, bool json) const {
  PromotionRound round;
  for (const ProblemResult& problem : result.problems) {
    if (const auto promotion = settled_.find(problem.gemm); promotion != settled_.end())
      round.promotions.push_back(*promotion);
    else if (!problem.failure.ok())
      round.failures.emplace_back(problem.gemm, problem.failure);
    else
      ++round.left;
  }
  return PrintPromotions(round, catalogue_->size(), path_, json);
}

}  // namespace gemmsmith
