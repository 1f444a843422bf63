// Who writes a catalogue keeps everybody else from writing it meanwhile.
#pragma once

#include <filesystem>

#include "base/files.h"

namespace gemmsmith {

inline Result<FileLock> LockCatalogue(std::filesystem::path catalogue) {
  return FileLock::TryAcquire(catalogue += ".lock");
}

}  // namespace gemmsmith
