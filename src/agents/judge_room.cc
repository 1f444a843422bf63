#include "agents/judge_room.h"

#include <optional>

#include "base/all_cores.h"
#include "base/files.h"
#include "workflow/catalogue_update.h"
#include "workflow/shipped_data.h"

namespace gemmsmith {
namespace {

Result<std::optional<Catalogue>> CatalogueFor(const std::filesystem::path& asked_for, const std::string& device_key) {
  if (!asked_for.empty()) {
    ASSIGN_OR_RETURN(Catalogue catalogue, Catalogue::Read(asked_for));
    return std::optional(std::move(catalogue));
  }
  std::vector<std::filesystem::path> files = {CataloguePath("", device_key)};
  for (const std::filesystem::path& shipped : ShippedCatalogues()) files.push_back(shipped);
  for (const std::filesystem::path& file : files) {
    Result<Catalogue> catalogue = Catalogue::Read(file);
    if (catalogue.status().code() == StatusCode::kNotFound) continue;
    RETURN_IF_ERROR(catalogue.status());
    if (catalogue->device_key() == device_key) return std::optional(*std::move(catalogue));
  }
  return std::optional<Catalogue>();
}

}  // namespace

std::filesystem::path JournalPath(const JudgeRoomOptions& options) {
  return options.journal.empty() ? HomeFolder() / "judge.sqlite" : options.journal;
}

Result<JudgeRoom> OpenJudgeRoom(const JudgeRoomOptions& options) {
  JudgeRoom room;
  ASSIGN_OR_RETURN(room.judge, MachineJudge::Open(options.machine));
  const Device& device = room.judge->device();
  ASSIGN_OR_RETURN(std::optional<Catalogue> catalogue, CatalogueFor(options.catalogue, device.key));
  ASSIGN_OR_RETURN(room.journal, JudgeJournal::Open(JournalPath(options)));
  const JudgeQueueOptions queue{
      .capacity = options.capacity, .prepare_threads = size_t(CoreCount()), .resumes = options.resumes};
  ASSIGN_OR_RETURN(room.queue, JudgeQueue::Open(*room.judge, *room.journal, queue));
  room.tools = std::make_unique<Tools>(
      ToolGround{*room.queue, *room.journal, room.judge->archive(), device, std::move(catalogue)});
  return room;
}

}  // namespace gemmsmith
