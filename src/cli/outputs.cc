#include "cli/outputs.h"

#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <fstream>
#include <string_view>

namespace gemmsmith {
namespace {

namespace fs = std::filesystem;

// What took a GPU's time to make, by how its files begin.
struct Treasure {
  std::string_view begin, name;
};
constexpr std::string_view kRecord = "a record of trials";
constexpr std::array kTreasures = {Treasure{"SQLite format 3", "an archive of trials"},
                                   Treasure{"gemmsmith-catalogue", "a catalogue of kernels"},
                                   Treasure{"certificate1\t", "a journal of certificates"},
                                   Treasure{"GSR\n", kRecord},
                                   Treasure{"{\"gemmsmith_trial\"", kRecord},
                                   Treasure{"unix_ms,campaign,device,", kRecord}};

std::string FirstBytesOf(const fs::path& path) {
  std::array<char, 32> bytes{};
  std::ifstream file(path, std::ios::binary);
  file.read(bytes.data(), bytes.size());
  return std::string(bytes.data(), size_t(file.gcount()));
}

}  // namespace

Status CheckOutput(const fs::path& path, bool may_replace_record) {
  if (path.empty()) return OkStatus();
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (error && status.type() != fs::file_type::not_found)
    return IoError(fmt::format("cannot write {}: {}", path.string(), error.message()));
  if (fs::is_directory(status)) return InvalidArgument(fmt::format("cannot write {}: it is a folder", path.string()));
  if (fs::exists(status) && !fs::is_regular_file(status)) return OkStatus();  // a pipe, a terminal
  const std::string first_bytes = FirstBytesOf(path);
  for (const auto& [begin, name] : kTreasures)
    if (first_bytes.starts_with(begin) && !(may_replace_record && name == kRecord))
      return InvalidArgument(fmt::format("{} is {}, which would be lost: name another file", path.string(), name));
  // Links are followed, as they are by whoever writes.
  const fs::path folder = fs::weakly_canonical(fs::absolute(path, error), error).parent_path();
  if (error) return IoError(fmt::format("cannot write {}: {}", path.string(), error.message()));
  if (fs::is_directory(folder, error) && ::access(folder.c_str(), W_OK | X_OK) != 0)
    return IoError(fmt::format("cannot write {}: this user may not write in {}", path.string(), folder.string()));
  return OkStatus();
}

}  // namespace gemmsmith
