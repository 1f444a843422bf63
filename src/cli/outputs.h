// Where answers are written to.
#pragma once

#include <filesystem>

#include "base/status.h"

namespace gemmsmith {

// Asked before the work: no folder, no archive of trials, which the answer would replace, and nothing that cannot be
// looked at. An empty path is none.
Status CheckOutput(const std::filesystem::path& path);

}  // namespace gemmsmith
