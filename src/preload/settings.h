// What the environment asks of the preloaded library, read once.
#pragma once

#include <string>

namespace gemmsmith {

enum class PreloadMode : uint8_t { kServe, kRecordOnly, kOff };
enum class PreloadLog : uint8_t { kOff, kSummary, kChoices };

struct PreloadSettings {
  PreloadMode mode = PreloadMode::kServe;  // GEMMSMITH_PRELOAD=on|record|off
  PreloadLog log = PreloadLog::kOff;       // GEMMSMITH_LOG=off|summary|choices
  std::string record;                      // GEMMSMITH_RECORD=FILE; "%p" is the number of the process

  static const PreloadSettings& Get();
};

// One line of standard error, "gemmsmith: TEXT".
void SayOnStderr(const std::string& text);

}  // namespace gemmsmith
