// CUDA text that a compiler turns into one kernel.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "base/hash.h"

namespace gemmsmith {

struct Source {
  std::string text;
  std::string entry;  // the extern "C" __global__ function
};

// The reviewed headers that emitted sources include, carried inside the program: "gemm_direct.cuh" and so on.
struct DeviceHeader {
  std::string_view name;
  std::string_view text;
};
std::span<const DeviceHeader> DeviceHeaders();
// Of their names and texts: sources with equal texts make equal kernels where it is equal.
Hash128 HashOfDeviceHeaders();

}  // namespace gemmsmith
