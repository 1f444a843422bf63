#include "ship/recorded_races.h"

#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "base/text.h"

namespace gemmsmith {

namespace {

// Sorted by when they were.
using RaceKey = std::tuple<int64_t, std::string, Gemm>;
std::map<RaceKey, std::vector<Trial>> RacesAmong(std::span<const Trial> trials, const std::string& device_key) {
  std::map<RaceKey, std::vector<Trial>> races;
  for (const Trial& trial : trials)
    if (trial.HasPlan() && IsThorough(trial.outcome.protocol) && trial.setting.device_key == device_key)
      races[{trial.unix_ms, trial.campaign, trial.gemm}].push_back(trial);
  return races;
}

// Dates are of the form 2026-11-26.
bool IsPast(int64_t unix_ms, const std::optional<Entry>& entry) { return entry && DateText(unix_ms) < entry->date; }

bool IsChange(const Promotion& promotion) {
  return promotion.kind != PromotionKind::kStands && promotion.kind != PromotionKind::kRefused;
}

}  // namespace

Result<PromotionRound> SettleByRecords(CatalogueOnDisk& catalogue, const std::string& device_key,
                                       std::span<const Trial> trials) {
  std::map<Gemm, Promotion> decided;
  for (const auto& [key, race] : RacesAmong(trials, device_key)) {
    const auto& [unix_ms, campaign, gemm] = key;
    if (IsPast(unix_ms, catalogue.Find(gemm))) continue;
    ASSIGN_OR_RETURN(Promotion promotion, Settle(catalogue, gemm, race));
    const auto before = decided.find(gemm);
    if (before == decided.end() || IsChange(promotion) || !IsChange(before->second))
      decided.insert_or_assign(gemm, std::move(promotion));
  }
  PromotionRound round;
  round.promotions.assign(decided.begin(), decided.end());
  return round;
}

}  // namespace gemmsmith
