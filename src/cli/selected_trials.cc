#include "cli/selected_trials.h"

#include <fmt/format.h>

#include "archive/segment.h"
#include "base/files.h"
#include "base/text.h"
#include "workflow/instrument.h"
#include "workflow/recordings.h"

namespace gemmsmith {

namespace {

bool Matches(const TrialSelection& selection, const Trial& trial) {
  return (!selection.campaign || trial.campaign == *selection.campaign) &&
         (!selection.shape || trial.gemm.shape == *selection.shape) &&
         (!selection.layout || trial.gemm.kind.layout == *selection.layout) &&
         (!selection.outcome || trial.outcome.kind == *selection.outcome) &&
         (!selection.protocol || trial.outcome.protocol == *selection.protocol);
}

}  // namespace

Result<SelectedTrials> SelectTrials(const TrialSelection& selection, bool with_replayed) {
  SelectedTrials selected;
  const auto take = [&](const Trial& trial) {
    selected.any_measured = selected.any_measured || !IsReplayed(trial);
    if (!Matches(selection, trial)) return;
    if (!with_replayed && IsReplayed(trial)) {
      ++selected.replayed;
    } else {
      selected.trials.push_back(trial);
    }
  };
  for (const std::filesystem::path& source : selection.sources) {
    ASSIGN_OR_RETURN(const std::vector<Trial> trials, ReadRecords(source));
    for (const Trial& trial : trials) take(trial);
    selected.source += (selected.source.empty() ? "" : ", ") + source.string();
  }
  if (!selection.sources.empty()) return selected;
  ASSIGN_OR_RETURN(const std::unique_ptr<Archive> archive, OpenArchiveToRead(selection.archive));
  RETURN_IF_ERROR(archive->ForEach({.campaign = selection.campaign}, take));
  selected.source = (selection.archive.empty() ? DefaultArchivePath() : selection.archive).string();
  return selected;
}

Result<SelectedTrials> SelectShipped(const std::optional<std::string>& device_key, ShippedTrials shipped) {
  TrialSelection of_folders;
  ASSIGN_OR_RETURN(of_folders.sources,
                   shipped == ShippedTrials::kModels ? RecordsOfModels(device_key) : StandingRecords(device_key));
  SelectedTrials none = {.shipped = true};
  if (of_folders.sources.empty()) return none;
  const size_t folders = of_folders.sources.size();
  ASSIGN_OR_RETURN(SelectedTrials selected, SelectTrials(of_folders, false));
  selected.shipped = true;
  if (folders > 1) selected.source = fmt::format("the {} shipped sets of records", folders);
  return selected;
}

Result<SelectedTrials> SelectMeasurements(const TrialSelection& selection, const std::optional<std::string>& device_key,
                                          ShippedTrials shipped) {
  Result<SelectedTrials> selected = SelectTrials(selection, false);
  const bool nothing_named = selection.sources.empty() && selection.archive.empty() && !selection.campaign;
  const bool nothing_there =
      selected.ok() ? !selected->any_measured : selected.status().code() == StatusCode::kNotFound;
  if (!nothing_named || !nothing_there) return selected;
  ASSIGN_OR_RETURN(SelectedTrials along, SelectShipped(device_key, shipped));
  if (!along.source.empty()) return along;
  if (selected.ok()) return selected;
  return NotFound(
      fmt::format("{}; and no records are shipped (looked in {})", selected.status().message(), RecordingsSearched()));
}

}  // namespace gemmsmith
