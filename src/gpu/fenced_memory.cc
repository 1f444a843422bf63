#include "gpu/fenced_memory.h"

#include <utility>

namespace gemmsmith {

Result<FencedMemory> FencedMemory::Create(const Gpu& gpu, uint64_t bytes) {
  FencedMemory memory;
  ASSIGN_OR_RETURN(memory.driver_, Driver::Open());
  const Driver* const driver = memory.driver_;
  CUmemAllocationProp properties{};
  properties.type = CU_MEM_ALLOCATION_TYPE_PINNED;
  properties.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
  properties.location.id = gpu.identity().ordinal;
  size_t granule = 0;
  RETURN_IF_CUDA_ERROR(driver->cuMemGetAllocationGranularity(&granule, &properties, CU_MEM_ALLOC_GRANULARITY_MINIMUM));
  GEMMSMITH_CHECK(granule > 0, "memory without a granularity");
  memory.size_bytes_ = (bytes + granule - 1) / granule * granule;
  const CUresult created = driver->cuMemCreate(&memory.allocation_, memory.size_bytes_, &properties, 0);
  if (created == CUDA_ERROR_OUT_OF_MEMORY)
    return Unavailable(fmt::format("the GPU has no {} MiB left ({} of {} MiB are free)", memory.size_bytes_ >> 20,
                                   gpu.FreeBytes() >> 20, gpu.identity().memory_bytes >> 20));
  RETURN_IF_ERROR(DriverStatus(created, "cuMemCreate"));
  memory.has_allocation_ = true;
  memory.reserved_bytes_ = memory.size_bytes_ + granule;
  const int ordinal = gpu.identity().ordinal;
  RETURN_IF_ERROR(memory.Map(ordinal, CU_MEM_ACCESS_FLAGS_PROT_READWRITE, memory.writable_));
  RETURN_IF_ERROR(memory.Map(ordinal, CU_MEM_ACCESS_FLAGS_PROT_READ, memory.read_only_));
  return memory;
}

// One granule of the reserved addresses stays empty.
Status FencedMemory::Map(int ordinal, CUmemAccess_flags access, Mapping& mapping) {
  RETURN_IF_CUDA_ERROR(driver_->cuMemAddressReserve(&mapping.address, reserved_bytes_, 0, 0, 0));
  RETURN_IF_CUDA_ERROR(driver_->cuMemMap(mapping.address, size_bytes_, 0, allocation_, 0));
  mapping.has_memory = true;
  CUmemAccessDesc allowed{};
  allowed.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
  allowed.location.id = ordinal;
  allowed.flags = access;
  RETURN_IF_CUDA_ERROR(driver_->cuMemSetAccess(mapping.address, size_bytes_, &allowed, 1));
  return OkStatus();
}

void FencedMemory::Unmap(const Mapping& mapping) {
  if (mapping.has_memory) driver_->cuMemUnmap(mapping.address, size_bytes_);
  if (mapping.address != 0) driver_->cuMemAddressFree(mapping.address, reserved_bytes_);
}

FencedMemory& FencedMemory::operator=(FencedMemory&& other) noexcept {
  std::swap(driver_, other.driver_);
  std::swap(allocation_, other.allocation_);
  std::swap(has_allocation_, other.has_allocation_);
  std::swap(writable_, other.writable_);
  std::swap(read_only_, other.read_only_);
  std::swap(size_bytes_, other.size_bytes_);
  std::swap(reserved_bytes_, other.reserved_bytes_);
  return *this;
}

FencedMemory::~FencedMemory() {
  Unmap(writable_);
  Unmap(read_only_);
  if (has_allocation_) driver_->cuMemRelease(allocation_);
}

}  // namespace gemmsmith
