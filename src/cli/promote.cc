#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <map>

#include "base/files.h"
#include "base/seconds.h"
#include "campaign/interrupt.h"
#include "cli/exit.h"
#include "cli/instrument.h"
#include "cli/json_text.h"
#include "cli/progress.h"
#include "cli/readers.h"
#include "cli/record_files.h"
#include "cli/run.h"
#include "cli/winners.h"
#include "cli/words.h"
#include "ship/promotion_round.h"

namespace gemmsmith {

namespace {

constexpr std::array kKinds = {PromotionKind::kEntered, PromotionKind::kReplaced, PromotionKind::kStands,
                               PromotionKind::kWithdrawn, PromotionKind::kRefused};

// In the order in which their shapes are named.
Result<std::vector<Challenge>> ChallengesOf(const PromoteCommand& command, const Archive& archive,
                                            const std::string& device_key) {
  ASSIGN_OR_RETURN(const Challengers challengers, ChallengersIn(archive, device_key));
  std::vector<Challenge> challenges = command.both_layouts ? challengers.InBothLayouts() : challengers.All();
  if (command.shapes != "all") {
    ASSIGN_OR_RETURN(const std::vector<Shape> shapes, LoadShapeLists(command.shapes));
    std::map<Shape, size_t> places;
    for (const Shape& shape : shapes) places.emplace(shape, places.size());
    std::erase_if(challenges, [&](const Challenge& one) { return !places.contains(one.gemm.shape); });
    std::ranges::stable_sort(challenges, {}, [&](const Challenge& one) { return places.at(one.gemm.shape); });
  }
  if (challenges.empty())
    return NotFound(fmt::format("the archive has no winner of {} on this GPU: gemmsmith optimize finds them",
                                command.shapes == "all" ? "any shape" : command.shapes));
  return challenges;
}

std::filesystem::path CataloguePath(const PromoteCommand& command, const std::string& device_key) {
  return command.catalogue.empty() ? HomeFolder() / (device_key + ".catalogue") : command.catalogue;
}

std::map<PromotionKind, int> Counted(const PromotionRound& round) {
  std::map<PromotionKind, int> counts;
  for (const PromotionKind kind : kKinds) counts[kind] = 0;
  for (const auto& [gemm, promotion] : round.promotions) ++counts[promotion.kind];
  return counts;
}

std::string Text(const PromotionRound& round, size_t entries, const std::string& path) {
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
                            Plural(int64_t(entries), "kernel"), path);
}

std::string JsonText(const PromotionRound& round, size_t entries, const std::string& path) {
  Json json = {{"command", "promote"}, {"catalogue", path},           {"entries", entries},
               {"left", round.left},   {"promotions", Json::array()}, {"failures", Json::array()}};
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

Result<int> Run(const PromoteCommand& command) {
  WatchForInterrupts();
  const auto start = std::chrono::steady_clock::now();
  RETURN_IF_ERROR(CheckSegmentPath("--record", command.record));
  ASSIGN_OR_RETURN(const Instrument instrument, OpenGpus(command.device));
  ASSIGN_OR_RETURN(const std::unique_ptr<Archive> archive, OpenArchive(command.archive));
  const std::string device_key = instrument.evaluator->device().key;
  ASSIGN_OR_RETURN(const std::vector<Challenge> challenges, ChallengesOf(command, *archive, device_key));
  const std::filesystem::path path = CataloguePath(command, device_key);
  ASSIGN_OR_RETURN(const std::unique_ptr<CatalogueOnDisk> catalogue, CatalogueOnDisk::Open(path, device_key));
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  const std::string campaign =
      fmt::format("promote {}", std::chrono::duration_cast<std::chrono::milliseconds>(now).count());
  Progress progress("promoting", int64_t(challenges.size()));
  const PromotionHooks hooks = {
      .is_over =
          [&] {
            return InterruptArrived() || (command.limit_seconds && SecondsSince(start) >= *command.limit_seconds);
          },
      .on_begin = [&](size_t begun, const Gemm& gemm) { progress.Update(int64_t(begun), Print(gemm)); }};
  const PromotionRound round =
      PromoteAll(challenges, *catalogue, instrument.Evaluators(), *instrument.compiler, archive.get(), campaign, hooks);
  // Where a GPU was lost halfway, what raced until then is written and told all the same.
  const Result<std::vector<std::string>> files =
      WriteSelected(*archive, {.campaign = campaign}, command.record, [](const Trial&) { return true; });
  RETURN_IF_ERROR(WriteOut(command.json ? JsonText(round, catalogue->size(), path.string())
                                        : Text(round, catalogue->size(), path.string())));
  RETURN_IF_ERROR(round.world);
  RETURN_IF_ERROR(files.status());
  if (!files->empty()) WriteNote(fmt::format("the races are written to {}", fmt::join(*files, ", ")));
  return InterruptArrived() ? kExitInterrupted : kExitDone;
}

}  // namespace gemmsmith
