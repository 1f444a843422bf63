// A catalogue's kernels, compiled into the file that programs load.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "base/status.h"
#include "program/plan.h"

namespace gemmsmith {

// What is in the file, in a line. `output` is replaced in one step, or stays as it is. `general`: plans without
// dimensions that go along.
Result<std::string> BuildKernelFile(const std::filesystem::path& catalogue, const std::filesystem::path& output,
                                    std::vector<Plan> general);

}  // namespace gemmsmith
