// ReadArchive() for each kind.
#pragma once

#include "corpus/collect/archive_files.h"

namespace gemmsmith {

Status ReadZip(const std::filesystem::path& path, const ArchiveVisitor& visitor);
Status ReadTar(const std::filesystem::path& path, const ArchiveVisitor& visitor);  // gzipped or not

}  // namespace gemmsmith
