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

Result<SelectedTrials> SelectMeasurements(const TrialSelection& selection,
                                          const std::optional<std::string>& device_key) {
  Result<SelectedTrials> selected = SelectTrials(selection, false);
  const bool nothing_named = selection.sources.empty() && selection.archive.empty() && !selection.campaign;
  const bool nothing_there =
      selected.ok() ? !selected->any_measured : selected.status().code() == StatusCode::kNotFound;
  if (!nothing_named || !nothing_there) return selected;
  ASSIGN_OR_RETURN(std::vector<std::filesystem::path> folders, StandingRecords(device_key));
  if (folders.empty() && !selected.ok())
    return NotFound(fmt::format("{}; and no records are shipped (looked in {})", selected.status().message(),
                                RecordingsSearched()));
  if (folders.empty()) return selected;
  const size_t searches = folders.size();
  TrialSelection of_folders = selection;
  of_folders.sources = std::move(folders);
  ASSIGN_OR_RETURN(SelectedTrials along, SelectTrials(of_folders, false));
  along.shipped = true;
  if (searches > 1) along.source = fmt::format("the {} shipped sets of records", searches);
  return along;
}

}  // namespace gemmsmith
