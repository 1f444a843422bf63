// Parts that all uses of nvcc share.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "base/status.h"

namespace gemmsmith {

struct Nvcc {
  std::filesystem::path program;
  std::string version;  // "13.0.88"
};
Result<Nvcc> FindNvcc();

// Compilations run in folders of their own; a log that is cached and compared must not name them.
std::string WithoutFolder(std::string log, const std::filesystem::path& folder);
std::string LastLine(std::string_view log);

}  // namespace gemmsmith
