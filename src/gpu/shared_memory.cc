#include "gpu/shared_memory.h"

#include <unistd.h>

#include <utility>

namespace gemmsmith {

namespace {

CUmemAllocationProp PropertiesFor(int ordinal) {
  CUmemAllocationProp properties{};
  properties.type = CU_MEM_ALLOCATION_TYPE_PINNED;
  properties.requestedHandleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
  properties.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
  properties.location.id = ordinal;
  return properties;
}

// Both processes come to the same answer.
Result<uint64_t> WholeGranules(const Driver* driver, int ordinal, uint64_t bytes) {
  const CUmemAllocationProp properties = PropertiesFor(ordinal);
  size_t granule = 0;
  RETURN_IF_CUDA_ERROR(driver->cuMemGetAllocationGranularity(&granule, &properties, CU_MEM_ALLOC_GRANULARITY_MINIMUM));
  GEMMSMITH_CHECK(granule > 0, "memory without a granularity");
  return (bytes + granule - 1) / granule * granule;
}

}  // namespace

Result<SharedMemory> SharedMemory::Create(const Gpu& gpu, uint64_t bytes) {
  SharedMemory memory;
  ASSIGN_OR_RETURN(memory.driver_, Driver::Open());
  const Driver* const driver = memory.driver_;
  const int ordinal = gpu.identity().ordinal;
  ASSIGN_OR_RETURN(memory.size_bytes_, WholeGranules(driver, ordinal, bytes));
  const CUmemAllocationProp properties = PropertiesFor(ordinal);
  const CUresult created = driver->cuMemCreate(&memory.allocation_, memory.size_bytes_, &properties, 0);
  if (created == CUDA_ERROR_OUT_OF_MEMORY)
    return Unavailable(fmt::format("the GPU has no {} MiB left to share ({} of {} MiB are free)", bytes >> 20,
                                   gpu.FreeBytes() >> 20, gpu.identity().memory_bytes >> 20));
  RETURN_IF_ERROR(DriverStatus(created, "cuMemCreate"));
  memory.has_allocation_ = true;
  RETURN_IF_CUDA_ERROR(driver->cuMemExportToShareableHandle(&memory.descriptor_, memory.allocation_,
                                                            CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0));
  RETURN_IF_ERROR(memory.Map(ordinal, Access::kReadAndWrite, {}));
  return memory;
}

Result<SharedMemory> SharedMemory::Open(const Gpu& gpu, int descriptor, uint64_t bytes, Access access,
                                        const Distance& distance) {
  SharedMemory memory;
  ASSIGN_OR_RETURN(memory.driver_, Driver::Open());
  const Driver* const driver = memory.driver_;
  const int ordinal = gpu.identity().ordinal;
  ASSIGN_OR_RETURN(memory.size_bytes_, WholeGranules(driver, ordinal, bytes));
  RETURN_IF_CUDA_ERROR(driver->cuMemImportFromShareableHandle(
      &memory.allocation_, reinterpret_cast<void*>(intptr_t(descriptor)), CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR));
  memory.has_allocation_ = true;
  RETURN_IF_ERROR(memory.Map(ordinal, access, distance));
  return memory;
}

Status SharedMemory::Map(int ordinal, Access access, const Distance& distance) {
  ASSIGN_OR_RETURN(const uint64_t before, WholeGranules(driver_, ordinal, distance.before));
  ASSIGN_OR_RETURN(const uint64_t from_here, WholeGranules(driver_, ordinal, size_bytes_ + 1 + distance.behind));
  reserved_bytes_ = before + from_here;
  RETURN_IF_CUDA_ERROR(driver_->cuMemAddressReserve(&reserved_, reserved_bytes_, 0, 0, 0));
  address_ = reserved_ + before;
  RETURN_IF_CUDA_ERROR(driver_->cuMemMap(address_, size_bytes_, 0, allocation_, 0));
  is_mapped_ = true;
  CUmemAccessDesc allowed{};
  allowed.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
  allowed.location.id = ordinal;
  allowed.flags = access == Access::kRead ? CU_MEM_ACCESS_FLAGS_PROT_READ : CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
  RETURN_IF_CUDA_ERROR(driver_->cuMemSetAccess(address_, size_bytes_, &allowed, 1));
  return OkStatus();
}

SharedMemory& SharedMemory::operator=(SharedMemory&& other) noexcept {
  std::swap(driver_, other.driver_);
  std::swap(allocation_, other.allocation_);
  std::swap(has_allocation_, other.has_allocation_);
  std::swap(is_mapped_, other.is_mapped_);
  std::swap(reserved_, other.reserved_);
  std::swap(address_, other.address_);
  std::swap(size_bytes_, other.size_bytes_);
  std::swap(reserved_bytes_, other.reserved_bytes_);
  std::swap(descriptor_, other.descriptor_);
  return *this;
}

SharedMemory::~SharedMemory() {
  if (is_mapped_) driver_->cuMemUnmap(address_, size_bytes_);
  if (reserved_ != 0) driver_->cuMemAddressFree(reserved_, reserved_bytes_);
  if (has_allocation_) driver_->cuMemRelease(allocation_);
  if (descriptor_ >= 0) ::close(descriptor_);
}

}  // namespace gemmsmith
