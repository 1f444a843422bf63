#include "workflow/shipped_data.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/files.h"
#include "base/installation.h"
#include "base/text.h"

namespace gemmsmith {

namespace fs = std::filesystem;

namespace {

// The folder of a recorded device with plans that were measured on every shape of the grid (docs/lab/sweeps.md).
constexpr std::string_view kDenseBlock = "dense";

Result<Experience> ExperienceIn(const std::vector<RecordSource>& sources, const HeldOut& held_out) {
  Experience experience;
  for (const RecordSource& source : sources) {
    ASSIGN_OR_RETURN(const std::shared_ptr<const Recording> recording, Recording::Load(source));
    experience.Add(*recording, held_out);
  }
  return experience;
}

// Sorted by name; empty where there is no such folder.
std::vector<fs::path> FilesIn(const fs::path& folder, std::string_view extension) {
  std::vector<fs::path> files;
  std::error_code error;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error))
    if (entry->path().extension() == extension) files.push_back(entry->path());
  std::sort(files.begin(), files.end());
  return files;
}

}  // namespace

Result<fs::path> ShippedPolicy(std::string_view option) {
  std::vector<std::string> looked;
  for (const fs::path& folder : OwnFolders("data/policy")) {
    const fs::path weights = folder / "weights.safetensors";
    std::error_code none;
    if (fs::exists(weights, none)) return weights;
    looked.push_back(folder.string());
  }
  return Unavailable(
      fmt::format("no policy came with this program (looked in {}); {} names one", Join(looked, ", "), option));
}

bool WasTrainedOn(const fs::path& weights, std::string_view device_key) {
  const Result<std::string> devices = ReadFile(weights.parent_path() / "devices");
  return devices.ok() && std::ranges::count(SplitWords(*devices), device_key) > 0;
}

std::vector<fs::path> ShippedCatalogues() {
  for (const fs::path& folder : OwnFolders("kernels"))
    if (std::vector<fs::path> files = FilesIn(folder, ".catalogue"); !files.empty()) return files;
  return {};
}

std::vector<fs::path> ShippedTraceFiles() {
  for (const RecordingPlace& place : FindRecordings())
    if (std::vector<fs::path> files = FilesIn(place.path / "compare", ".gtr"); !files.empty()) return files;
  return {};
}

Result<Traces> ReadTraces(const std::vector<fs::path>& files) {
  std::vector<Traces> parts;
  for (const fs::path& file : files) {
    ASSIGN_OR_RETURN(const std::string bytes, ReadFile(file));
    Result<Traces> traces = DecodeTraces(bytes);
    if (!traces.ok()) return WithContext(traces.status(), file.string());
    parts.push_back(*std::move(traces));
  }
  return JoinTraces(std::move(parts));
}

Result<std::vector<RecordSource>> SpaceAndSearches(const RecordingPlace& place) {
  ASSIGN_OR_RETURN(const RecordSource searches, StandingRecords(place));
  const RecordSource space = {place.path};
  std::vector<RecordSource> sources;
  if (place.has_segments) sources.push_back(space);
  if (searches != space) sources.push_back(searches);
  return sources;
}

Result<Experience> ExperienceNamed(const ExperienceChoice& choice, const HeldOut& held_out) {
  if (!choice || choice->empty()) return Experience();
  ASSIGN_OR_RETURN(Experience experience, ExperienceIn(*choice, held_out));
  if (experience.empty()) return InvalidArgument("--experience has no timed plan of a shape that is not held out");
  return experience;
}

Result<Experience> ExperienceOfReplay(const ExperienceChoice& choice, const Recording& recording,
                                      const HeldOut& held_out) {
  if (choice) return ExperienceNamed(choice, held_out);
  Experience experience;
  experience.Add(recording, held_out);
  return experience;
}

Result<Experience> ExperienceOnGpu(const ExperienceChoice& choice, const std::string& device_key,
                                   const HeldOut& held_out) {
  if (choice) return ExperienceNamed(choice, held_out);
  const std::optional<RecordingPlace> place = FindRecordingOf(device_key);
  if (!place) return Experience();
  ASSIGN_OR_RETURN(std::vector<RecordSource> shipped, SpaceAndSearches(*place));
  const fs::path block = place->path / kDenseBlock;
  ASSIGN_OR_RETURN(const bool has_block, Exists(block));
  if (has_block) shipped.push_back({block});
  return ExperienceIn(shipped, held_out);
}

}  // namespace gemmsmith
