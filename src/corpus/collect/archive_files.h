// The files in a zip (also a wheel), tar or gzipped tar, read one after the other. Nothing is ever unpacked to the
// disk.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>

#include "base/status.h"

namespace gemmsmith {

// Judged by the name: .zip, .whl, .tar, .tar.gz, .tgz.
bool IsArchiveName(std::string_view name);

// A relative path without "..", empty parts, backslashes and control characters.
bool IsSafePath(std::string_view path);

struct ArchiveVisitor {
  // Asked for each regular file, in the archive's order, with its size as the archive tells it.
  std::function<bool(const std::string& name, uint64_t size)> wants;
  // Called with the content where it is wanted. A failure ends the reading.
  std::function<Status(const std::string& name, std::string content)> read;
  // Asked before each file, also those that are not wanted; may be null.
  std::function<bool()> stop;
};

// Links, devices and encrypted files are passed over. Interrupted where `stop` said so. DataLoss where the archive is
// damaged or cut off; what is whole before the damage, in a zip also behind it, was read. So much of a file is in
// memory as the archive told, and `wants` has allowed.
Status ReadArchive(const std::filesystem::path& path, const ArchiveVisitor& visitor);

}  // namespace gemmsmith
