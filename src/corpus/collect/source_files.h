// The files of CUDA, C++, Markdown and HTML in a tree, an archive or by themselves, each with its licence.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>

#include "base/status.h"

namespace gemmsmith {

struct SourceFile {
  std::string source;  // the last name of the tree or archive
  std::string path;    // in it
  std::string license;
  std::string text;  // clean UTF-8
};

inline constexpr uint64_t kLargestSourceFile = 2 << 20;

struct SourceHooks {
  std::function<Status(SourceFile)> read;  // its failure ends the reading
  // One line on a file that is left out: too large, no text, an unsafe path.
  std::function<void(std::string)> left_out;
  // One line on an archive, a folder or a file that could not be read, or not to its end.
  std::function<void(std::string)> unread;
  // Asked before each file, also those that are not read; may be null.
  std::function<bool()> stop;
};

// Files in the order of their names; archives in a tree are sources of their own, in an archive they are nothing. Links
// in trees and hidden files are passed over. NotFound where the source is missing, Interrupted where `stop` said so.
Status ReadSource(const std::filesystem::path& source, const SourceHooks& hooks);

}  // namespace gemmsmith
