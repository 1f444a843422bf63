// Machine code that a candidate hands to the CUDA runtime while it runs. The screen (compile/screening.h) has seen what
// stands in the candidate's file and nothing else.
#pragma once

#include <cstddef>
#include <cstdint>

namespace gemmsmith {

// As nvcc has it handed to __cudaRegisterFatBinary().
struct CodeWrapper {
  uint32_t magic = 0, version = 0;
  const void* code = nullptr;  // a container (compile/fatbin.h)
  const void* linked = nullptr;
};

// Whether these bytes are part of a file that is loaded, as it was loaded: the process cannot write them.
bool IsAsLoaded(const void* from, uint64_t bytes);
// Whether it wraps one whole container that is.
bool IsAsLoaded(const CodeWrapper& wrapper);

}  // namespace gemmsmith
