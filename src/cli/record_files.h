// Trials to files in the three exchange formats; the path's ending chooses.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "archive/trial.h"
#include "base/status.h"

namespace gemmsmith {

// InvalidArgument unless it ends in .gsr, .jsonl or .csv.
Status CheckRecordPath(const std::filesystem::path& path);
// Trials to segments as they come, so that no more than a segment of them is held: "x.gsr", "x-2.gsr", ...
class SegmentFiles {
 public:
  SegmentFiles(std::filesystem::path path, bool keep_samples) : path_(std::move(path)), keep_samples_(keep_samples) {}
  Status Add(const Trial& trial);
  // The files written; none without trials.
  Result<std::vector<std::string>> Finish();

 private:
  Status Flush();

  const std::filesystem::path path_;
  const bool keep_samples_;
  std::vector<Trial> waiting_;
  std::vector<std::string> files_;
};

// The files written: more than one where segments would outgrow their limit ("x.gsr", "x-2.gsr", ...). Samples are kept
// or dropped in segments; the text formats say what their pages say.
Result<std::vector<std::string>> WriteRecords(const std::vector<Trial>& trials, const std::filesystem::path& path,
                                              bool keep_samples);

}  // namespace gemmsmith
