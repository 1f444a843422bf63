#include "cli/promotion_text.h"

#include <fmt/format.h>

#include <array>
#include <map>

#include "base/files.h"
#include "cli/json_text.h"
#include "cli/words.h"

namespace gemmsmith {

namespace {

constexpr std::array kKinds = {PromotionKind::kEntered, PromotionKind::kReplaced, PromotionKind::kStands,
                               PromotionKind::kWithdrawn, PromotionKind::kRefused};

std::map<PromotionKind, int> Counted(const PromotionRound& round) {
  std::map<PromotionKind, int> counts;
  for (const PromotionKind kind : kKinds) counts[kind] = 0;
  for (const auto& [gemm, promotion] : round.promotions) ++counts[promotion.kind];
  return counts;
}

std::string Text(const PromotionRound& round, size_t entries, const std::filesystem::path& path) {
  std::string text;
  for (const auto& [gemm, promotion] : round.promotions)
    if (promotion.kind != PromotionKind::kStands)
      text += fmt::format("{:<9}  {}  {}  {}\n", Name(promotion.kind), Print(gemm), Print(promotion.plan),
                          promotion.reason);
  for (const auto& [gemm, failure] : round.failures)
    text += fmt::format("failed     {}  {}\n", Print(gemm), failure.message());
  std::vector<std::string> counts;
  for (const auto& [kind, count] : Counted(round)) counts.push_back(fmt::format("{} {}", CountText(count), Name(kind)));
  return text + fmt::format("{}, {} failed, {} left; {} in {}\n", fmt::join(counts, ", "),
                            CountText(int64_t(round.failures.size())), CountText(int64_t(round.left)),
                            Plural(int64_t(entries), "kernel"), path.string());
}

std::string JsonText(const PromotionRound& round, size_t entries, const std::filesystem::path& path,
                     std::string_view command) {
  Json json = {{"command", command}, {"catalogue", path.string()},  {"entries", entries},
               {"left", round.left}, {"promotions", Json::array()}, {"failures", Json::array()}};
  for (const auto& [kind, count] : Counted(round)) json[std::string(Name(kind))] = count;
  for (const auto& [gemm, promotion] : round.promotions)
    json["promotions"].push_back({{"problem", Print(gemm)},
                                  {"plan", Print(promotion.plan)},
                                  {"promotion", Name(promotion.kind)},
                                  {"reason", promotion.reason}});
  for (const auto& [gemm, failure] : round.failures)
    json["failures"].push_back({{"problem", Print(gemm)}, {"failure", failure.message()}});
  return PrintJson(json);
}

}  // namespace

std::filesystem::path CataloguePath(const std::filesystem::path& asked_for, const std::string& device_key) {
  return asked_for.empty() ? HomeFolder() / (device_key + ".catalogue") : asked_for;
}

std::string PrintPromotions(const PromotionRound& round, size_t entries, const std::filesystem::path& path, bool json,
                            std::string_view command) {
  return json ? JsonText(round, entries, path, command) : Text(round, entries, path);
}

}  // namespace gemmsmith
