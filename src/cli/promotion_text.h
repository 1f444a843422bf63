// What became of the entries of a catalogue, as `promote`, `optimize --promote` and `catalogue settle` tell it.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "ship/promotion_round.h"

namespace gemmsmith {

// The one that was asked for, or that of the device in the user's data folder.
std::filesystem::path CataloguePath(const std::filesystem::path& asked_for, const std::string& device_key);

// A line each that entered, replaced, was refused or withdrawn, and counts; or all of them as one JSON object, of this
// command. `entries` are in the catalogue now.
std::string PrintPromotions(const PromotionRound& round, size_t entries, const std::filesystem::path& path, bool json,
                            std::string_view command = "promote");

}  // namespace gemmsmith
