// What became of the entries of a catalogue, as `promote`, `optimize --promote` and `catalogue settle` tell it.
#pragma once

#include <filesystem>
#include <string>

#include "ship/promotion_round.h"
#include "ship/recorded_races.h"

namespace gemmsmith {

// A line each that entered, replaced, was refused or withdrawn, and counts; or all of them as one JSON object.
// `entries` are in the catalogue now.
std::string PrintPromotions(const PromotionRound& round, size_t entries, const std::filesystem::path& path, bool json);
// The same of recorded races, and how many of them did not count.
std::string PrintDecisions(const RecordedDecisions& decisions, size_t entries, const std::filesystem::path& path,
                           bool json);

}  // namespace gemmsmith
