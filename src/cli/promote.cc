#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <set>

#include "base/interrupt.h"
#include "base/seconds.h"
#include "cli/exit.h"
#include "cli/progress.h"
#include "cli/promotion_text.h"
#include "cli/readers.h"
#include "cli/record_files.h"
#include "cli/run.h"
#include "cli/words.h"
#include "ship/promotion_round.h"
#include "workflow/catalogue_update.h"
#include "workflow/instrument.h"
#include "workflow/winners.h"

namespace gemmsmith {

namespace {

// In the order in which their shapes are named.
Result<std::vector<Challenge>> ChallengesOf(const PromoteCommand& command, const Archive& archive,
                                            const std::string& device_key) {
  ASSIGN_OR_RETURN(const Challengers challengers, ChallengersIn(archive, device_key));
  std::vector<Challenge> challenges = command.both_layouts ? challengers.InBothLayouts() : challengers.All();
  if (command.shapes != "all") {
    ASSIGN_OR_RETURN(const std::vector<Product> products, LoadProductLists(command.shapes));
    const std::set<Product> named(products.begin(), products.end());
    std::erase_if(challenges, [&](const Challenge& one) {
      Gemm gemm = one.gemm;
      gemm.kind.constant_b = false;
      const auto& [shape, layout] = std::pair(gemm.shape, gemm.kind.layout);
      return !named.contains({shape, std::nullopt}) && !named.contains({shape, layout}) &&
             !named.contains({shape, layout, gemm});
    });
    std::map<Shape, size_t> places;
    for (const Shape& shape : ShapesOf(products)) places.emplace(shape, places.size());
    std::ranges::stable_sort(challenges, {}, [&](const Challenge& one) { return places.at(one.gemm.shape); });
  }
  if (challenges.empty())
    return NotFound(fmt::format("the archive has no winner of {} on this GPU: gemmsmith optimize finds them",
                                command.shapes == "all" ? "any shape" : command.shapes));
  return challenges;
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
  const std::filesystem::path path = CataloguePath(command.catalogue, device_key);
  ASSIGN_OR_RETURN(const std::unique_ptr<CatalogueOnDisk> catalogue, CatalogueOnDisk::Open(path, device_key));
  const std::string campaign = fmt::format("promote {}", UnixMsNow());
  Progress progress("promoting", int64_t(challenges.size()));
  const std::unique_ptr<StopRule> stop = StopWhen(
      [&] { return InterruptArrived() || (command.limit_seconds && SecondsSince(start) >= *command.limit_seconds); },
      "over");
  const PromotionRound round =
      PromoteAll(challenges, *catalogue, instrument.Evaluators(), *instrument.compiler, archive.get(), campaign, *stop,
                 [&](size_t begun, const Gemm& gemm) { progress.Update(int64_t(begun), Print(gemm)); });
  // Also where a GPU was lost halfway.
  const Result<std::vector<std::string>> files =
      WriteSelected(*archive, {.campaign = campaign}, command.record, [](const Trial&) { return true; });
  RETURN_IF_ERROR(WriteOut(PrintPromotions(round, catalogue->size(), path, command.json)));
  RETURN_IF_ERROR(round.failure);
  RETURN_IF_ERROR(files.status());
  if (!files->empty()) WriteNote(fmt::format("the races are written to {}", fmt::join(*files, ", ")));
  return InterruptArrived() ? kExitInterrupted : kExitDone;
}

}  // namespace gemmsmith
