// Where the recordings of real GPUs are that answer on machines without one.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "archive/replay.h"

namespace gemmsmith {

// One recorded device: a folder named by its key (data/h200) that holds segments, from which replays answer, or whose
// file `standing` names folders of searches.
struct RecordingPlace {
  std::string key;
  std::filesystem::path path;
  bool has_segments = true;
};

// $GEMMSMITH_RECORDS (a folder of such folders, one of them, or one record file), else the data folder beside or above
// the program, else that of the source tree it was built from. Sorted by key; the first one found with any recording
// counts.
std::vector<RecordingPlace> FindRecordings();
std::optional<RecordingPlace> FindRecordingOf(std::string_view device_key);
// Of these, those from which replays answer.
std::vector<RecordingPlace> FindReplayable();
// For a message: where FindRecordings() looked.
std::string RecordingsSearched();
// The recording of this key; of any, the first, where there is no key. NotFound names what there is to replay.
Result<std::shared_ptr<const Recording>> LoadRecording(const std::optional<std::string>& key);
// The folders of the searches on a recorded device that reports speak of: those that its file `standing` names, one a
// line; where it has none, what replays answer from.
Result<std::vector<std::filesystem::path>> StandingRecords(const RecordingPlace& place);
// Those of the device of this key; where nothing of it is recorded, or there is no key, of the first that replays. None
// where there is none.
Result<std::vector<std::filesystem::path>> StandingRecords(const std::optional<std::string>& key);

}  // namespace gemmsmith
