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
  RETURN_IF_ERROR(memory.Map(gpu.identity().ordinal, granule));
  return memory;
}

// One granule of the reserved addresses stays empty.
Status FencedMemory::Map(int ordinal, uint64_t granule) {
  reserved_bytes_ = size_bytes_ + granule;
  RETURN_IF_CUDA_ERROR(driver_->cuMemAddressReserve(&address_, reserved_bytes_, 0, 0, 0));
  RETURN_IF_CUDA_ERROR(driver_->cuMemMap(address_, size_bytes_, 0, allocation_, 0));
  is_mapped_ = true;
  CUmemAccessDesc allowed{};
  allowed.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
  allowed.location.id = ordinal;
  allowed.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
  RETURN_IF_CUDA_ERROR(driver_->cuMemSetAccess(address_, size_bytes_, &allowed, 1));
  return OkStatus();
}

FencedMemory& FencedMemory::operator=(FencedMemory&& other) noexcept {
  std::swap(driver_, other.driver_);
  std::swap(allocation_, other.allocation_);
  std::swap(has_allocation_, other.has_allocation_);
  std::swap(is_mapped_, other.is_mapped_);
  std::swap(address_, other.address_);
  std::swap(size_bytes_, other.size_bytes_);
  std::swap(reserved_bytes_, other.reserved_bytes_);
  return *this;
}

FencedMemory::~FencedMemory() {
  if (is_mapped_) driver_->cuMemUnmap(address_, size_bytes_);
  if (address_ != 0) driver_->cuMemAddressFree(address_, reserved_bytes_);
  if (has_allocation_) driver_->cuMemRelease(allocation_);
}

}  // namespace gemmsmith
