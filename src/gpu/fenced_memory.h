// Device memory with unmapped addresses behind it: a kernel that reads or writes there faults.
#pragma once

#include "gpu/gpu.h"

namespace gemmsmith {

class FencedMemory {
 public:
  FencedMemory() = default;
  // At least so many bytes: the next 2 MiB. Unavailable, with the sizes, where the GPU has not so much.
  static Result<FencedMemory> Create(const Gpu& gpu, uint64_t bytes);
  FencedMemory(FencedMemory&& other) noexcept { *this = std::move(other); }
  FencedMemory& operator=(FencedMemory&& other) noexcept;
  ~FencedMemory();

  CUdeviceptr address() const { return address_; }
  uint64_t size_bytes() const { return size_bytes_; }

 private:
  Status Map(int ordinal, uint64_t granule);

  const Driver* driver_ = nullptr;
  CUmemGenericAllocationHandle allocation_ = 0;
  bool has_allocation_ = false, is_mapped_ = false;
  CUdeviceptr address_ = 0;
  uint64_t size_bytes_ = 0, reserved_bytes_ = 0;
};

}  // namespace gemmsmith
