#include "preload/settings.h"

#include <unistd.h>

#include "base/installation.h"

namespace gemmsmith {

const PreloadSettings& PreloadSettings::Get() {
  static const PreloadSettings* const settings = [] {
    auto* const read = new PreloadSettings;  // calls come until the very end of the process
    const std::string_view mode = Environment("GEMMSMITH_PRELOAD"), log = Environment("GEMMSMITH_LOG");
    read->mode = mode == "off" ? PreloadMode::kOff : mode == "record" ? PreloadMode::kRecordOnly : PreloadMode::kServe;
    read->log = log == "choices" ? PreloadLog::kChoices : log == "summary" ? PreloadLog::kSummary : PreloadLog::kOff;
    read->record = Environment("GEMMSMITH_RECORD");
    return read;
  }();
  return *settings;
}

void SayOnStderr(const std::string& text) {
  const std::string line = "gemmsmith: " + text + "\n";
  [[maybe_unused]] const ssize_t written = write(STDERR_FILENO, line.data(), line.size());
}

}  // namespace gemmsmith
