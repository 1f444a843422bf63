#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <system_error>

#include "archive/segment.h"
#include "base/files.h"
#include "base/text.h"

namespace gemmsmith {
namespace {

namespace fs = std::filesystem;

Status AppendSegment(const fs::path& path, std::string_view bytes, std::vector<Trial>& trials) {
  Result<std::vector<Trial>> segment = DecodeSegment(bytes);
  if (!segment.ok())
    return Status(segment.status().code(),
                  fmt::format("{}: {}; nothing of it was read: fetch it again, or leave it out", path.string(),
                              segment.status().message()));
  std::move(segment->begin(), segment->end(), std::back_inserter(trials));
  return OkStatus();
}

Status AppendJsonLines(const fs::path& path, std::string_view content, std::vector<Trial>& trials) {
  int number = 0;
  for (std::string_view line : Split(content, '\n')) {
    ++number;
    if (SplitWords(line).empty()) continue;
    Result<Trial> trial = FromJsonLine(line);
    if (!trial.ok()) return DataLoss(fmt::format("{}:{}: {}", path.string(), number, trial.status().message()));
    trials.push_back(*std::move(trial));
  }
  return OkStatus();
}

Status AppendFile(const fs::path& path, std::vector<Trial>& trials) {
  const bool segment = path.extension() == ".gsr";
  if (!segment && path.extension() != ".jsonl")
    return InvalidArgument(fmt::format("{} is no record: records end in .gsr or .jsonl", path.string()));
  ASSIGN_OR_RETURN(const std::string content, ReadFile(path));
  return segment ? AppendSegment(path, content, trials) : AppendJsonLines(path, content, trials);
}

}  // namespace

Result<std::vector<Trial>> ReadRecords(const fs::path& path) {
  std::vector<Trial> trials;
  std::error_code error;
  ASSIGN_OR_RETURN(const bool exists, Exists(path));
  if (!exists) return NotFound(fmt::format("{} does not exist", path.string()));
  if (!fs::is_directory(path, error)) {
    RETURN_IF_ERROR(AppendFile(path, trials));
    return trials;
  }
  std::vector<fs::path> segments;
  for (fs::directory_iterator entry(path, error), end; !error && entry != end; entry.increment(error))
    if (entry->path().extension() == ".gsr") segments.push_back(entry->path());
  if (error) return IoError(fmt::format("cannot list {}: {}", path.string(), error.message()));
  if (segments.empty()) return NotFound(fmt::format("no record segments (*.gsr) in {}", path.string()));
  std::sort(segments.begin(), segments.end());
  for (const fs::path& segment : segments) RETURN_IF_ERROR(AppendFile(segment, trials));
  return trials;
}

}  // namespace gemmsmith
