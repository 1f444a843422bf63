#include "corpus/collect/archive_files.h"

#include <algorithm>

#include "base/text.h"
#include "corpus/collect/archive_kinds.h"

namespace gemmsmith {

namespace {

bool EndsWithAny(std::string_view name, std::initializer_list<std::string_view> endings) {
  return std::ranges::any_of(endings, [&](std::string_view ending) { return name.ends_with(ending); });
}

bool IsZipName(std::string_view name) { return EndsWithAny(name, {".zip", ".whl"}); }

}  // namespace

bool IsArchiveName(std::string_view name) { return IsZipName(name) || EndsWithAny(name, {".tar", ".tar.gz", ".tgz"}); }

bool IsSafePath(std::string_view path) {
  if (std::ranges::any_of(path, [](char c) { return c == '\\' || IsControl(c); })) return false;
  return std::ranges::none_of(Split(path, '/'), [](std::string_view part) { return part.empty() || part == ".."; });
}

Status ReadArchive(const std::filesystem::path& path, const ArchiveVisitor& visitor) {
  return IsZipName(path.filename().string()) ? ReadZip(path, visitor) : ReadTar(path, visitor);
}

}  // namespace gemmsmith
