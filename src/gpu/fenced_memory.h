// Device memory at two addresses, each with unmapped ones behind it: a kernel that reads or writes there faults.
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

  CUdeviceptr address() const { return writable_.address; }
  // The same bytes; a write faults. No kernel may use one address while another writes through the other.
  CUdeviceptr read_only_address() const { return read_only_.address; }
  uint64_t size_bytes() const { return size_bytes_; }

 private:
  struct Mapping {
    CUdeviceptr address = 0;
    bool has_memory = false;
  };
  Status Map(int ordinal, CUmemAccess_flags access, Mapping& mapping);
  void Unmap(const Mapping& mapping);

  const Driver* driver_ = nullptr;
  CUmemGenericAllocationHandle allocation_ = 0;
  bool has_allocation_ = false;
  Mapping writable_, read_only_;
  uint64_t size_bytes_ = 0, reserved_bytes_ = 0;
};

}  // namespace gemmsmith
