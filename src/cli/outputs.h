// Where answers are written to.
#pragma once

#include <filesystem>

#include "base/status.h"

namespace gemmsmith {

// Asked before the work: no folder, no archive, catalogue, journal or record, which the answer would replace (a record
// may where it is another record), nothing that cannot be looked at, and in no folder that this user may not write in.
// An empty path is none.
Status CheckOutput(const std::filesystem::path& path, bool may_replace_record = false);

}  // namespace gemmsmith
