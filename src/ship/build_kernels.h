// From a catalogue to the kernels that a program loads: every distinct one is compiled from its plan, and its machine
// code is looked at as a candidate's is.
#pragma once

#include <cstddef>
#include <functional>

#include "catalogue/catalogue.h"
#include "catalogue/kernel_file.h"
#include "compile/compiler.h"

namespace gemmsmith {

struct BuildKernelsOptions {
  std::vector<Plan> general;                                 // plans without dimensions, for problems without entries
  int compile_threads = 0;                                   // all cores
  std::function<void(size_t done, size_t all)> on_progress;  // may be null
  std::function<bool()> stop = [] { return false; };         // asked before each kernel
};

// Needs no GPU. An entry that is illegal, does not compile or is not what its problem asks for ends it, by its name:
// nothing ships in part. A derived kernel that is not, which may spill where its entry's does not, is left out.
// Interrupted where `stop` says so.
Result<KernelFile> BuildKernels(const Catalogue& catalogue, Compiler& compiler, const BuildKernelsOptions& options);

}  // namespace gemmsmith
