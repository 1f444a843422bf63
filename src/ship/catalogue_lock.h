// Locks a catalogue against other writers.
#pragma once

#include <filesystem>

#include "base/files.h"

namespace gemmsmith {

inline Result<FileLock> LockCatalogue(std::filesystem::path catalogue) {
  return FileLock::TryAcquire(catalogue += ".lock");
}

}  // namespace gemmsmith
