// Trials to files in the three exchange formats; the path's ending chooses.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "archive/archive.h"
#include "archive/segment.h"
#include "archive/trial.h"
#include "base/status.h"

namespace gemmsmith {

// InvalidArgument unless it ends in .gsr, .jsonl or .csv and can be written (outputs.h).
Status CheckRecordPath(const std::filesystem::path& path);
// InvalidArgument, by the option's name, unless it ends in .gsr and can be written, or is empty.
Status CheckSegmentPath(std::string_view option, const std::filesystem::path& path);
// Trials to segments as they come, so that no more than a segment of them is held: "x.gsr", "x-2.gsr", ... One behind
// them that was there before, which a longer export may have left, is said.
class SegmentFiles {
 public:
  explicit SegmentFiles(std::filesystem::path path, const SegmentDetail& detail = {})
      : path_(std::move(path)), detail_(detail) {}
  Status Add(const Trial& trial);
  // The files written; none without trials.
  Result<std::vector<std::string>> Finish();

 private:
  Status Flush();
  std::filesystem::path FileOf(size_t number) const;

  const std::filesystem::path path_;
  const SegmentDetail detail_;
  std::vector<Trial> waiting_;
  std::vector<std::string> files_;
};

// The files written: more than one where segments would outgrow their limit ("x.gsr", "x-2.gsr", ...). The detail is
// that of segments; the text formats say what their pages say.
Result<std::vector<std::string>> WriteRecords(const std::vector<Trial>& trials, const std::filesystem::path& path,
                                              const SegmentDetail& detail = {});
// The trials of a selection that are wanted, to segments with their samples; none where the path is empty.
Result<std::vector<std::string>> WriteSelected(const Archive& archive, const TrialFilter& filter,
                                               const std::filesystem::path& path,
                                               const std::function<bool(const Trial&)>& wanted);

}  // namespace gemmsmith
