// What comes along with the program besides its recordings: the policy, the experience that its prior begins with,
// traces of proposals, and catalogues.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "archive/replay.h"
#include "cli/command.h"
#include "cli/recordings.h"
#include "search/experience.h"
#include "search/traces.h"

namespace gemmsmith {

// Unavailable where none came along; `option` then says how to name one.
Result<std::filesystem::path> PolicyThatCameAlong(std::string_view option);
// What stands in the file `devices` beside the weights.
bool WasTrainedOn(const std::filesystem::path& weights, std::string_view device_key);

// The catalogues of kernels, of whatever devices.
std::vector<std::filesystem::path> CataloguesThatCameAlong();

// Traces of proposals (.gtr) beside a recording, in its folder "compare".
std::vector<std::filesystem::path> TraceFilesThatCameAlong();
Result<Traces> ReadTraces(const std::vector<std::filesystem::path>& files);

// The recorded space of a device, from which replays answer, and its standing searches, each a source of its own, as
// far as there are such.
Result<std::vector<RecordSource>> SpaceAndSearches(const RecordingPlace& place);

// `--experience`: "none", or what is named. Where it was not given:
// a replay has that of its own recording (its prior forgets the shape that is asked for, and here what is held out),
Result<Experience> ExperienceOfReplay(const std::vector<RecordSource>& sources, const Recording& recording,
                                      const HeldOut& held_out);
// a search on a GPU the recorded space of this device and its standing searches, each a source of its own.
Result<Experience> ExperienceOnGpu(const std::vector<RecordSource>& sources, const std::string& device_key,
                                   const HeldOut& held_out);
// Whoever has none unless it is named.
Result<Experience> ExperienceNamed(const std::vector<RecordSource>& sources, const HeldOut& held_out);

}  // namespace gemmsmith
