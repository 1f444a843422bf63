#include "cli/record_files.h"

#include <fmt/format.h>

#include <utility>

#include "archive/segment.h"
#include "base/files.h"
#include "cli/exit.h"
#include "cli/outputs.h"

namespace gemmsmith {

Status SegmentFiles::Add(const Trial& trial) {
  waiting_.push_back(trial);
  return waiting_.size() < kMaxSegmentTrials ? OkStatus() : Flush();
}

Result<std::vector<std::string>> SegmentFiles::Finish() {
  RETURN_IF_ERROR(Flush());
  const std::filesystem::path next = FileOf(files_.size() + 1);
  std::error_code none;
  if (!files_.empty() && std::filesystem::exists(next, none))
    WriteNote(fmt::format("{} stands there as if it belonged to {}: remove it if a longer export left it",
                          next.string(), path_.string()));
  return std::move(files_);
}

std::filesystem::path SegmentFiles::FileOf(size_t number) const {
  std::filesystem::path file = path_;
  if (number > 1) file.replace_filename(fmt::format("{}-{}.gsr", path_.stem().string(), number));
  return file;
}

Status SegmentFiles::Flush() {
  for (const std::string& segment : EncodeSegments(std::exchange(waiting_, {}), detail_)) {
    const std::filesystem::path file = FileOf(files_.size() + 1);
    RETURN_IF_ERROR(WriteFileAtomic(file, segment));
    files_.push_back(file);
  }
  return OkStatus();
}

Status CheckRecordPath(const std::filesystem::path& path) {
  const std::filesystem::path ending = path.extension();
  if (ending == ".gsr" || ending == ".jsonl" || ending == ".csv") return CheckOutput(path, true);
  return InvalidArgument(fmt::format("'{}' ends in none of .gsr, .jsonl and .csv", path.string()));
}

Status CheckSegmentPath(std::string_view option, const std::filesystem::path& path) {
  if (path.empty() || path.extension() == ".gsr") return CheckOutput(path, true);
  return InvalidArgument(fmt::format("{} '{}' does not end in .gsr", option, path.string()));
}

Result<std::vector<std::string>> WriteRecords(const std::vector<Trial>& trials, const std::filesystem::path& path,
                                              const SegmentDetail& detail) {
  if (path.extension() == ".gsr") {
    SegmentFiles files(path, detail);
    for (const Trial& trial : trials) RETURN_IF_ERROR(files.Add(trial));
    return files.Finish();
  }
  std::string text;
  if (path.extension() == ".csv") {
    text = CsvHeader() + "\n";
    for (const Trial& trial : trials) text += ToCsvLine(trial) + "\n";
  } else {
    for (const Trial& trial : trials) text += ToJsonLine(trial) + "\n";
  }
  RETURN_IF_ERROR(WriteFileAtomic(path, text));
  return std::vector<std::string>{path.string()};
}

Result<std::vector<std::string>> WriteSelected(const Archive& archive, const TrialFilter& filter,
                                               const std::filesystem::path& path,
                                               const std::function<bool(const Trial&)>& wanted) {
  if (path.empty()) return std::vector<std::string>();
  SegmentFiles files(path);
  Status added;
  RETURN_IF_ERROR(archive.ForEach(filter, [&](const Trial& trial) {
    if (added.ok() && wanted(trial)) added = files.Add(trial);
  }));
  RETURN_IF_ERROR(added);
  return files.Finish();
}

}  // namespace gemmsmith
