// Where the recordings of GPUs are that answer on machines without one.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "archive/replay.h"

namespace gemmsmith {

// Record files and folders that are read as one.
using RecordSource = std::vector<std::filesystem::path>;

// One recorded device: a folder named by its key (data/h200). It holds segments, from which replays answer, or a file
// `standing`, which names folders of searches.
struct RecordingPlace {
  std::string key;
  std::filesystem::path path;
  bool has_segments = true;
};

// Sorted by key. The first of these places that holds any recording counts: $GEMMSMITH_RECORDS (a folder of such
// folders, one of them, or one record file), the data folder beside or above the program, and that of the source tree.
std::vector<RecordingPlace> FindRecordings();
std::optional<RecordingPlace> FindRecordingOf(std::string_view device_key);
// The places from which replays answer.
std::vector<RecordingPlace> FindReplayable();
// The places where FindRecordings() looks, for a message.
std::string RecordingsSearched();
// The recording of a device; of the first recorded one where there is no key. NotFound names the recorded devices.
Result<std::shared_ptr<const Recording>> LoadRecording(const std::optional<std::string>& key);
// The folders of searches on a recorded device that reports speak of: those that its file `standing` names, one a line;
// without that file the folder itself.
Result<RecordSource> StandingRecords(const RecordingPlace& place);
// Those of the device of this key; where it is not recorded, or without a key, of the first that replays. Empty where
// nothing is recorded.
Result<RecordSource> StandingRecords(const std::optional<std::string>& key);
// The races of products of public models there; empty where none shipped.
Result<RecordSource> RecordsOfModels(const std::optional<std::string>& key);

}  // namespace gemmsmith
