// The trials that a records verb was pointed at.
#pragma once

#include <string>
#include <vector>

#include "archive/trial.h"
#include "cli/command.h"

namespace gemmsmith {

struct SelectedTrials {
  std::string source;         // for people: the archive's or the files' names
  std::vector<Trial> trials;  // in the order they were stored
  int64_t replayed = 0;       // left out: answers of a recording are no measurements
  bool any_measured = false;  // also where none was selected
  bool shipped = false;       // nothing else was there: they came with the program
};

// `with_replayed` keeps those too.
Result<SelectedTrials> SelectTrials(const TrialSelection& selection, bool with_replayed);
enum class ShippedTrials { kSearches, kModels };
// Without those; where nothing was named and the archive holds no measurement at all, of what came with the program:
// on the device of this key, else on the one that answers where there is no GPU.
Result<SelectedTrials> SelectMeasurements(const TrialSelection& selection,
                                          const std::optional<std::string>& device_key = std::nullopt,
                                          ShippedTrials shipped = ShippedTrials::kSearches);
// Of these shipped records alone.
Result<SelectedTrials> SelectShipped(const std::optional<std::string>& device_key, ShippedTrials shipped);

}  // namespace gemmsmith
