// What a catalogue's kernels bring to a program whose calls were recorded.
#pragma once

#include "cli/command.h"

namespace gemmsmith {

Result<int> CompareForJob(const CatalogueCompareCommand& command);

}  // namespace gemmsmith
