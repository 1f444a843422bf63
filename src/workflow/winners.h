// The best plans of problems, among those that a GPU judged.
#pragma once

#include <filesystem>
#include <optional>
#include <span>
#include <string>

#include "archive/archive.h"
#include "archive/standings.h"
#include "search/neighbour_winners.h"
#include "ship/challengers.h"

namespace gemmsmith {

// Leaves a trial out that a recording answered.
void AddMeasured(const Trial& trial, BestPlans& best);
// Among the archive's trials on this device, or on any.
Result<BestPlans> WinnersIn(const Archive& archive, const std::optional<std::string>& device_key = std::nullopt);
// Among its trials on this device.
Result<Challengers> ChallengersIn(const Archive& archive, const std::string& device_key);
// Among the entries of catalogues (files that end so) and the trials in record files and folders, on this device and on
// others of its architecture.
Result<NeighbourWinners> NeighbourWinnersIn(std::span<const std::filesystem::path> sources, const Device& device);

}  // namespace gemmsmith
