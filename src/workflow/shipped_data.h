// Data that ships with the program besides its recordings: the policy, the experience of its prior, traces of
// proposals, and catalogues.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "archive/replay.h"
#include "search/experience.h"
#include "search/traces.h"
#include "workflow/recordings.h"

namespace gemmsmith {

// The weights of the policy. Unavailable where none shipped; the message then says that `option` names one.
Result<std::filesystem::path> ShippedPolicy(std::string_view option);
// Whether the file `devices` beside the weights names the device.
bool WasTrainedOn(const std::filesystem::path& weights, std::string_view device_key);

// The catalogues of all devices.
std::vector<std::filesystem::path> ShippedCatalogues();

// Traces of proposals (.gtr) in the folder "compare" of a recording.
std::vector<std::filesystem::path> ShippedTraceFiles();
Result<Traces> ReadTraces(const std::vector<std::filesystem::path>& files);

// The recorded space of a device, from which replays answer, and its standing searches: a source each, as far as there
// are such.
Result<std::vector<RecordSource>> SpaceAndSearches(const RecordingPlace& place);

// The records that correct a prediction. nullopt: those that shipped for the purpose; empty: none.
using ExperienceChoice = std::optional<std::vector<RecordSource>>;
// A replay ships with its own recording. Its prior forgets the shape that is asked for, and here the held-out ones.
Result<Experience> ExperienceOfReplay(const ExperienceChoice& choice, const Recording& recording,
                                      const HeldOut& held_out);
// A search on a GPU has the recorded space of its device, its dense block and its standing searches.
Result<Experience> ExperienceOnGpu(const ExperienceChoice& choice, const std::string& device_key,
                                   const HeldOut& held_out);
// All other uses have none unless records are named. InvalidArgument where those have no timed plan.
Result<Experience> ExperienceNamed(const ExperienceChoice& choice, const HeldOut& held_out);

}  // namespace gemmsmith
