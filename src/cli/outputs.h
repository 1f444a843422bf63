// Where answers are written to.
#pragma once

#include <filesystem>

#include "base/status.h"

namespace gemmsmith {

// Asked before the work: no folder, no archive of trials, which the answer would replace, nothing that cannot be looked
// at, and in no folder that this user may not write in. An empty path is none.
Status CheckOutput(const std::filesystem::path& path);

}  // namespace gemmsmith
