#include "workflow/recordings.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

#include "base/files.h"
#include "base/installation.h"
#include "base/text.h"

namespace gemmsmith {

namespace fs = std::filesystem;

namespace {

bool IsRecordFile(const fs::path& path) { return path.extension() == ".gsr" || path.extension() == ".jsonl"; }

bool HoldsSegments(const fs::path& folder) {
  std::error_code error;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error)) {
    if (entry->path().extension() == ".gsr") return true;
  }
  return false;
}

fs::path ListOfStanding(const fs::path& folder) { return folder / "standing"; }

bool NamesStanding(const fs::path& folder) {
  std::error_code none;
  return fs::exists(ListOfStanding(folder), none);
}

std::optional<RecordingPlace> RecordingIn(const fs::path& folder) {
  const bool has_segments = HoldsSegments(folder);
  if (!has_segments && !NamesStanding(folder)) return std::nullopt;
  return RecordingPlace{folder.filename(), folder, has_segments};
}

std::vector<RecordingPlace> RecordingsUnder(const fs::path& data) {
  std::vector<RecordingPlace> places;
  std::error_code error;
  for (fs::directory_iterator entry(data, error), end; !error && entry != end; entry.increment(error))
    if (std::optional<RecordingPlace> place = RecordingIn(entry->path())) places.push_back(*std::move(place));
  std::sort(places.begin(), places.end(), [](const auto& a, const auto& b) { return a.key < b.key; });
  return places;
}

std::optional<fs::path> FromEnvironment() {
  const char* value = std::getenv("GEMMSMITH_RECORDS");
  if (value == nullptr || *value == '\0') return std::nullopt;
  return fs::path(value);
}

// The device's, else what answers where there is no GPU.
std::optional<RecordingPlace> PlaceOf(const std::optional<std::string>& key) {
  for (RecordingPlace& place : FindRecordings())
    if (place.key == key) return std::move(place);
  std::vector<RecordingPlace> replayable = FindReplayable();
  return replayable.empty() ? std::nullopt : std::optional(std::move(replayable.front()));
}

}  // namespace

std::vector<RecordingPlace> FindRecordings() {
  if (const std::optional<fs::path> given = FromEnvironment()) {
    if (IsRecordFile(*given)) return {{given->stem(), *given}};
    const fs::path folder = given->has_filename() ? *given : given->parent_path();
    if (std::optional<RecordingPlace> place = RecordingIn(folder)) return {*std::move(place)};
    return RecordingsUnder(folder);
  }
  for (const fs::path& data : OwnFolders("data")) {
    if (std::vector<RecordingPlace> places = RecordingsUnder(data); !places.empty()) return places;
  }
  return {};
}

std::optional<RecordingPlace> FindRecordingOf(std::string_view device_key) {
  const std::vector<RecordingPlace> places = FindRecordings();
  const auto place = std::ranges::find(places, device_key, &RecordingPlace::key);
  return place == places.end() ? std::nullopt : std::optional(*place);
}

std::vector<RecordingPlace> FindReplayable() {
  std::vector<RecordingPlace> places = FindRecordings();
  std::erase_if(places, [](const RecordingPlace& place) { return !place.has_segments; });
  return places;
}

std::string RecordingsSearched() {
  if (const std::optional<fs::path> given = FromEnvironment()) return given->string() + " (GEMMSMITH_RECORDS)";
  return fmt::format("{}, and the data folder beside the program", OwnFolders("data").back().string());
}

Result<std::shared_ptr<const Recording>> LoadRecording(const std::optional<std::string>& key) {
  const std::vector<RecordingPlace> places = FindReplayable();
  if (places.empty()) {
    return Unavailable(fmt::format("no recorded measurements (looked in {}); set GEMMSMITH_RECORDS to a folder of them",
                                   RecordingsSearched()));
  }
  std::vector<std::string> known;
  for (const RecordingPlace& place : places) {
    if (!key || place.key == *key) return Recording::Load(place.path);
    known.push_back(place.key);
  }
  return NotFound(fmt::format("no recording of device '{}'; recorded: {}", *key, Join(known, ", ")));
}

Result<RecordSource> StandingRecords(const RecordingPlace& place) {
  if (!NamesStanding(place.path)) return RecordSource{place.path};
  const fs::path list = ListOfStanding(place.path);
  ASSIGN_OR_RETURN(const std::string text, ReadFile(list));
  RecordSource folders;
  for (const ListLine& line : ListLines(text)) folders.push_back(place.path / SplitWords(line.text).front());
  if (folders.empty()) return DataLoss(fmt::format("{} names no folder", list.string()));
  return folders;
}

Result<RecordSource> StandingRecords(const std::optional<std::string>& key) {
  const std::optional<RecordingPlace> place = PlaceOf(key);
  return place ? StandingRecords(*place) : RecordSource();
}

Result<RecordSource> RecordsOfModels(const std::optional<std::string>& key) {
  const std::optional<RecordingPlace> place = PlaceOf(key);
  if (!place) return RecordSource();
  const fs::path folder = place->path / "models";
  ASSIGN_OR_RETURN(const bool is_there, Exists(folder));
  return is_there ? RecordSource{folder} : RecordSource();
}

}  // namespace gemmsmith
