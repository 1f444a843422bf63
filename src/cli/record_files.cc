#include "cli/record_files.h"

#include <fmt/format.h>

#include "archive/segment.h"
#include "base/files.h"

namespace gemmsmith {

namespace {

Result<std::vector<std::string>> WriteSegments(const std::vector<Trial>& trials, const std::filesystem::path& path,
                                               bool keep_samples) {
  std::vector<std::string> files;
  for (const std::string& segment : EncodeSegments(trials, keep_samples)) {
    std::filesystem::path file = path;
    if (!files.empty()) file.replace_filename(fmt::format("{}-{}.gsr", path.stem().string(), files.size() + 1));
    RETURN_IF_ERROR(WriteFileAtomic(file, segment));
    files.push_back(file);
  }
  return files;
}

}  // namespace

Status CheckRecordPath(const std::filesystem::path& path) {
  const std::filesystem::path ending = path.extension();
  if (ending == ".gsr" || ending == ".jsonl" || ending == ".csv") return OkStatus();
  return InvalidArgument(fmt::format("'{}' ends in none of .gsr, .jsonl and .csv", path.string()));
}

Result<std::vector<std::string>> WriteRecords(const std::vector<Trial>& trials, const std::filesystem::path& path,
                                              bool keep_samples) {
  if (path.extension() == ".gsr") return WriteSegments(trials, path, keep_samples);
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

}  // namespace gemmsmith
