// How a kernel is called, from the machine code of a cubin.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "program/launch.h"

namespace gemmsmith {

struct KernelParameter {
  uint32_t offset = 0, bytes = 0;
  bool operator==(const KernelParameter&) const = default;
};

struct KernelInterface {
  std::vector<KernelParameter> parameters;  // in the order of the declaration
  uint32_t parameter_bytes = 0;             // all of them, with what lies between
  uint32_t max_threads = 0;                 // of a CTA, by __launch_bounds__; 0: not declared
  Dim3 cluster{0, 0, 0};                    // by __cluster_dims__; zeros: not declared
  bool operator==(const KernelInterface&) const = default;
};

// NotFound where the cubin has no kernel of that name; DataLoss where what it says is impossible.
Result<KernelInterface> ReadKernelInterface(std::span<const uint8_t> cubin, std::string_view kernel);

}  // namespace gemmsmith
