// Where and with what measurements are made.
#pragma once

#include <string>

namespace gemmsmith {

// Part of every record; stored once and named by its hash.
struct Setting {
  std::string device_key;   // "h200"
  std::string device_name;  // "NVIDIA H200"
  std::string gpu_uuid;
  std::string driver;     // "580.159.04 (CUDA 13.0)"
  std::string toolchain;  // Compiler::Identity()
  std::string libraries;  // Cublas::Version()
  std::string harness;    // gemmsmith version and hash of the measuring sources
  bool operator==(const Setting&) const = default;
};

}  // namespace gemmsmith
