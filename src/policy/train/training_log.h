// The log of a training run, written twice: log.jsonl, a JSON object a line, and an event file for TensorBoard.
#pragma once

#include <cstdint>
#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "base/status.h"

namespace gemmsmith {

class TrainingLog {
 public:
  // Goes on behind step `done`: what the files say of later steps is dropped, as is everything from where they are cut
  // off or damaged. Both files stay the same files, so that what shows them while they grow goes on too.
  static Result<TrainingLog> Open(const std::filesystem::path& folder, int64_t done);
  TrainingLog(TrainingLog&& other) noexcept;
  TrainingLog& operator=(TrainingLog&&) = delete;
  ~TrainingLog();

  // An object with its number as "step"; all other numbers in it become scalars of the event file. A run that is killed
  // behind this keeps the step in both.
  Status Append(const nlohmann::ordered_json& line);
  // To the disk.
  Status Sync();

 private:
  class AppendedFile;
  explicit TrainingLog(std::vector<AppendedFile> files);

  std::vector<AppendedFile> files_;  // lines, events
};

// The lines of a folder's log, as far as they are sound; none where there is no log.
std::vector<nlohmann::ordered_json> ReadLog(const std::filesystem::path& folder);
// A number of a line; nullopt if it has none of that name.
std::optional<double> NumberIn(const nlohmann::ordered_json& line, const std::string& name);
// When the events of its first and its last step were written.
struct LoggedTime {
  double first_unix_seconds = 0, last_unix_seconds = 0;
};
std::optional<LoggedTime> ReadLoggedTime(const std::filesystem::path& folder);

}  // namespace gemmsmith
