#include "cli/outputs.h"

#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <fstream>
#include <string_view>

namespace gemmsmith {
namespace {

namespace fs = std::filesystem;

bool IsDatabase(const fs::path& path) {
  constexpr std::string_view kBegin = "SQLite format 3";
  std::array<char, kBegin.size()> begin{};
  std::ifstream file(path, std::ios::binary);
  return file.read(begin.data(), begin.size()) && std::string_view(begin.data(), begin.size()) == kBegin;
}

}  // namespace

Status CheckOutput(const fs::path& path) {
  if (path.empty()) return OkStatus();
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (error && status.type() != fs::file_type::not_found)
    return IoError(fmt::format("cannot write {}: {}", path.string(), error.message()));
  if (fs::is_directory(status)) return InvalidArgument(fmt::format("cannot write {}: it is a folder", path.string()));
  if (fs::exists(status) && !fs::is_regular_file(status)) return OkStatus();  // a pipe, a terminal
  if (fs::is_regular_file(status) && IsDatabase(path))
    return InvalidArgument(
        fmt::format("{} is an archive of trials, which would be lost: name another file", path.string()));
  // Links are followed, as they are by whoever writes.
  const fs::path folder = fs::weakly_canonical(fs::absolute(path, error), error).parent_path();
  if (error) return IoError(fmt::format("cannot write {}: {}", path.string(), error.message()));
  if (fs::is_directory(folder, error) && ::access(folder.c_str(), W_OK | X_OK) != 0)
    return IoError(fmt::format("cannot write {}: this user may not write in {}", path.string(), folder.string()));
  return OkStatus();
}

}  // namespace gemmsmith
