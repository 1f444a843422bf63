#include "cli/promotion_text.h"

#include <fmt/format.h>

#include <array>
#include <map>
#include <nlohmann/json.hpp>

#include "archive/json_text.h"
#include "base/files.h"
#include "base/text.h"
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

// A line each that entered, replaced, was refused or withdrawn.
std::string Changes(const PromotionRound& round) {
  std::string text;
  for (const auto& [gemm, promotion] : round.promotions)
    if (promotion.kind != PromotionKind::kStands)
      text += fmt::format("{:<9}  {}  {}  {}\n", Name(promotion.kind), Print(gemm), PrintShort(promotion.plan),
                          promotion.reason);
  return text;
}

std::string Counts(const PromotionRound& round) {
  std::vector<std::string> counts;
  for (const auto& [kind, count] : Counted(round)) counts.push_back(fmt::format("{} {}", CountText(count), Name(kind)));
  return Join(counts, ", ");
}

std::string Text(const PromotionRound& round, size_t entries, const std::filesystem::path& path) {
  std::string text = Changes(round);
  for (const auto& [gemm, failure] : round.failures)
    text += fmt::format("failed     {}  {}\n", Print(gemm), failure.message());
  return text + fmt::format("{}, {} failed, {} left; {} in {}\n", Counts(round),
                            CountText(int64_t(round.failures.size())), CountText(int64_t(round.left)),
                            Plural(int64_t(entries), "kernel"), path.string());
}

Json JsonOf(const PromotionRound& round, std::string_view command, size_t entries, const std::filesystem::path& path) {
  Json json = {{"command", command}, {"catalogue", path.string()}, {"entries", entries}, {"promotions", Json::array()}};
  for (const auto& [kind, count] : Counted(round)) json[std::string(Name(kind))] = count;
  for (const auto& [gemm, promotion] : round.promotions)
    json["promotions"].push_back({{"problem", Print(gemm)},
                                  {"plan", Print(promotion.plan)},
                                  {"promotion", Name(promotion.kind)},
                                  {"reason", promotion.reason}});
  return json;
}

std::string JsonText(const PromotionRound& round, size_t entries, const std::filesystem::path& path) {
  Json json = JsonOf(round, "promote", entries, path);
  json["left"] = round.left;
  json["failures"] = Json::array();
  for (const auto& [gemm, failure] : round.failures)
    json["failures"].push_back({{"problem", Print(gemm)}, {"failure", failure.message()}});
  return PrintJson(json);
}

}  // namespace

std::string PrintPromotions(const PromotionRound& round, size_t entries, const std::filesystem::path& path, bool json) {
  return json ? JsonText(round, entries, path) : Text(round, entries, path);
}

std::string PrintDecisions(const RecordedDecisions& decisions, size_t entries, const std::filesystem::path& path,
                           bool json) {
  if (json) {
    Json all = JsonOf(decisions.round, "catalogue settle", entries, path);
    all["races"] = decisions.races, all["known"] = decisions.known, all["without_entry"] = decisions.without_entry;
    all["of_older_clock"] = decisions.of_older_clock;
    return PrintJson(all);
  }
  std::string text =
      Changes(decisions.round) +
      fmt::format("{}; {} in {}\n", Counts(decisions.round), Plural(int64_t(entries), "kernel"), path.string()) +
      Plural(int64_t(decisions.races), "race");
  if (decisions.known > 0)
    text += fmt::format(", {} not later than the entry's own", CountText(int64_t(decisions.known)));
  if (decisions.without_entry > 0)
    text += fmt::format(", {} without the entry (gemmsmith promote races it with others)",
                        CountText(int64_t(decisions.without_entry)));
  if (decisions.of_older_clock > 0)
    text += fmt::format(", {} of repeated calls alone", CountText(int64_t(decisions.of_older_clock)));
  return text + "\n";
}

}  // namespace gemmsmith
