// Device memory that two processes map: one makes it, the other opens it through a file descriptor, whatever namespaces
// lie between them. Nothing else of the maker's memory can be reached that way.
#pragma once

#include "gpu/gpu.h"

namespace gemmsmith {

// From what is mapped before and behind, at least, in bytes.
struct Distance {
  uint64_t before = 0, behind = 0;
};

class SharedMemory {
 public:
  SharedMemory() = default;
  // At least so many bytes, as many as can be shared: the next 2 MiB. Unavailable, with the sizes, where the GPU has
  // not so much.
  static Result<SharedMemory> Create(const Gpu& gpu, uint64_t bytes);
  // Maps memory that another process created with the same size. The caller keeps `descriptor` and can map it again at
  // other addresses. A kernel faults if it writes to a read-only mapping or reads behind the last byte.
  enum class Access { kRead, kReadAndWrite };
  static Result<SharedMemory> Open(const Gpu& gpu, int descriptor, uint64_t bytes, Access access,
                                   const Distance& distance = {});
  SharedMemory(SharedMemory&& other) noexcept { *this = std::move(other); }
  SharedMemory& operator=(SharedMemory&& other) noexcept;
  ~SharedMemory();

  CUdeviceptr address() const { return address_; }
  template <class T = void>
  T* as() const {
    return reinterpret_cast<T*>(address_);
  }
  uint64_t size_bytes() const { return size_bytes_; }
  // For the other process to inherit; -1 in memory that was opened.
  int descriptor() const { return descriptor_; }

 private:
  // Gives the allocation an address at which this GPU may do so.
  Status Map(int ordinal, Access access, const Distance& distance);

  const Driver* driver_ = nullptr;
  CUmemGenericAllocationHandle allocation_ = 0;
  bool has_allocation_ = false, is_mapped_ = false;
  CUdeviceptr reserved_ = 0, address_ = 0;
  uint64_t size_bytes_ = 0, reserved_bytes_ = 0;
  int descriptor_ = -1;
};

}  // namespace gemmsmith
