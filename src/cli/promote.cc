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
#include "ship/promotion.h"

namespace gemmsmith {

namespace {

constexpr std::array kKinds = {PromotionKind::kEntered, PromotionKind::kReplaced, PromotionKind::kStands,
                               PromotionKind::kWithdrawn, PromotionKind::kRefused};

struct Round {
  std::vector<std::pair<Gemm, Promotion>> promotions;
  std::vector<std::pair<Gemm, Status>> failures;
  size_t left = 0;
};

// In the order in which their shapes are named.
Result<std::vector<Challenge>> ChallengesOf(const PromoteCommand& command, const Archive& archive,
                                            const std::string& device_key) {
  ASSIGN_OR_RETURN(const Challengers challengers, ChallengersIn(archive, device_key));
  std::vector<Challenge> challenges = challengers.All();
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

// How many problems' kernels are compiled while one races.
constexpr size_t kProblemsAhead = 8;

// One problem may be too large for this GPU; of two in a row the machine is the reason.
Result<Round> PromoteAll(const PromoteCommand& command, const std::vector<Challenge>& challenges, Promoter& promoter) {
  const auto start = std::chrono::steady_clock::now();
  const auto is_over = [&] {
    return InterruptArrived() || (command.limit_seconds && SecondsSince(start) >= *command.limit_seconds);
  };
  Round round;
  Progress progress("promoting", int64_t(challenges.size()));
  bool failed_before = false;
  size_t expected = 0;
  for (size_t i = 0; i < challenges.size() && !is_over(); ++i) {
    for (; expected < std::min(i + 1 + kProblemsAhead, challenges.size()); ++expected)
      promoter.Expect(challenges[expected].gemm, challenges[expected].plans);
    const auto& [gemm, plans] = challenges[i];
    progress.Update(int64_t(i), Print(gemm));
    Result<Promotion> promotion = promoter.Promote(gemm, plans);
    if (!promotion.ok() && failed_before) return promotion.status();
    failed_before = !promotion.ok();
    if (promotion.ok())
      round.promotions.emplace_back(gemm, *std::move(promotion));
    else
      round.failures.emplace_back(gemm, promotion.status());
  }
  round.left = challenges.size() - round.promotions.size() - round.failures.size();
  return round;
}

std::map<PromotionKind, int> Counted(const Round& round) {
  std::map<PromotionKind, int> counts;
  for (const PromotionKind kind : kKinds) counts[kind] = 0;
  for (const auto& [gemm, promotion] : round.promotions) ++counts[promotion.kind];
  return counts;
}

std::string Text(const Round& round, const Catalogue& catalogue, const std::string& path) {
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
                            Plural(int64_t(catalogue.entries().size()), "kernel"), path);
}

std::string JsonText(const Round& round, const Catalogue& catalogue, const std::string& path) {
  Json json = {{"command", "promote"}, {"catalogue", path},           {"entries", catalogue.entries().size()},
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
  RETURN_IF_ERROR(CheckSegmentPath("--record", command.record));
  RETURN_IF_ERROR(CheckGpuMeasures(command.device));
  ASSIGN_OR_RETURN(const int gpu, FindGpu(command.device));
  ASSIGN_OR_RETURN(const std::unique_ptr<Archive> archive, OpenArchive(command.archive));
  ASSIGN_OR_RETURN(Instrument instrument, OpenLiveInstrument(gpu));
  const std::string device_key = instrument.evaluator->device().key;
  ASSIGN_OR_RETURN(const std::vector<Challenge> challenges, ChallengesOf(command, *archive, device_key));
  const std::filesystem::path path = CataloguePath(command, device_key);
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  const std::string campaign =
      fmt::format("promote {}", std::chrono::duration_cast<std::chrono::milliseconds>(now).count());
  ASSIGN_OR_RETURN(Promoter promoter,
                   Promoter::Open(path, *instrument.evaluator, *instrument.compiler, archive.get(), campaign));
  const Result<Round> raced = PromoteAll(command, challenges, promoter);
  // Where the GPU was lost halfway, what raced until then is written all the same.
  const Result<std::vector<std::string>> files =
      WriteSelected(*archive, {.campaign = campaign}, command.record, [](const Trial&) { return true; });
  ASSIGN_OR_RETURN(const Round& round, raced);
  const Catalogue& catalogue = promoter.catalogue();
  RETURN_IF_ERROR(
      WriteOut(command.json ? JsonText(round, catalogue, path.string()) : Text(round, catalogue, path.string())));
  RETURN_IF_ERROR(files.status());
  if (!files->empty()) WriteNote(fmt::format("the races are written to {}", fmt::join(*files, ", ")));
  return InterruptArrived() ? kExitInterrupted : kExitDone;
}

}  // namespace gemmsmith
