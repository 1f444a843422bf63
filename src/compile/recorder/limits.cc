// The room of the device: occupancy, and which launches the driver would take.
#include <algorithm>

#include "compile/recorder/recorder.h"

namespace gemmsmith::recorder {

namespace {

constexpr unsigned kPortableCluster = 8, kRegisterUnit = 256, kParts = 4;  // of a multiprocessor

template <class T>
T RoundUp(T value, T unit) {
  return (value + unit - 1) / unit * unit;
}

uint64_t Volume(const dim3& dim) { return uint64_t(dim.x) * dim.y * dim.z; }

// Warps of a kernel for which a multiprocessor has registers.
unsigned WarpsByRegisters(const Kernel& kernel) {
  const unsigned of_warp = std::max(kRegisterUnit, RoundUp(kernel.registers * kWarp, kRegisterUnit));
  return unsigned(TheRequest().device.registers) / kParts / of_warp * kParts;
}

const char* AttributeName(cudaLaunchAttributeID id) {
  switch (id) {
    case cudaLaunchAttributeAccessPolicyWindow:
      return "an access policy window";
    case cudaLaunchAttributeSynchronizationPolicy:
      return "a synchronization policy";
    case cudaLaunchAttributeProgrammaticEvent:
      return "a programmatic event";
    case cudaLaunchAttributePriority:
      return "a priority";
    case cudaLaunchAttributeMemSyncDomainMap:
      return "a map of memory synchronization domains";
    case cudaLaunchAttributeMemSyncDomain:
      return "a memory synchronization domain";
    case cudaLaunchAttributePreferredClusterDimension:
      return "a preferred cluster dimension";
    case cudaLaunchAttributeLaunchCompletionEvent:
      return "a launch completion event";
    case cudaLaunchAttributeDeviceUpdatableKernelNode:
      return "a device-updatable kernel node";
    default:
      return nullptr;
  }
}

cudaError_t ReadAttribute(const cudaLaunchAttribute& attribute, LaunchShape& shape) {
  const cudaLaunchAttributeValue& value = attribute.val;
  switch (attribute.id) {
    case cudaLaunchAttributeIgnore:
    case cudaLaunchAttributeClusterSchedulingPolicyPreference:  // a hint
      return cudaSuccess;
    case cudaLaunchAttributeClusterDimension:
      shape.cluster = {value.clusterDim.x, value.clusterDim.y, value.clusterDim.z};
      return cudaSuccess;
    case cudaLaunchAttributeCooperative:
      shape.is_cooperative = value.cooperative != 0;
      return cudaSuccess;
    case cudaLaunchAttributeProgrammaticStreamSerialization:
      shape.is_programmatic = value.programmaticStreamSerializationAllowed != 0;
      return cudaSuccess;
    case cudaLaunchAttributePreferredSharedMemoryCarveout:
      shape.carveout_percent = int(value.sharedMemCarveout);
      return cudaSuccess;
    default:
      break;
  }
  const char* const name = AttributeName(attribute.id);
  const std::string number = "launch attribute " + std::to_string(int(attribute.id));
  return Refuse("launches with " + (name != nullptr ? name + (" (" + number + ")") : number) +
                ", which the contract does not have");
}

}  // namespace

cudaError_t ReadLaunchConfig(const cudaLaunchConfig_t& config, LaunchShape& shape) {
  shape.grid = config.gridDim, shape.block = config.blockDim;
  shape.dynamic_smem = config.dynamicSmemBytes, shape.stream = config.stream;
  for (unsigned i = 0; i < config.numAttrs; ++i)
    if (const cudaError_t error = ReadAttribute(config.attrs[i], shape); error != cudaSuccess) return error;
  return cudaSuccess;
}

unsigned MaxThreads(const Kernel& kernel) {
  const auto device = unsigned(TheRequest().device.threads_block);
  const unsigned declared = kernel.max_threads > 0 ? std::min(kernel.max_threads, device) : device;
  return std::min(declared, WarpsByRegisters(kernel) * kWarp);
}

dim3 ClusterOf(const Kernel& kernel, const LaunchShape& shape) {
  return Volume(shape.cluster) == 1 && kernel.cluster.x > 0 ? kernel.cluster : shape.cluster;
}

int CtasPerMultiprocessor(const Kernel& kernel, unsigned threads, size_t dynamic_smem) {
  constexpr unsigned kSmemUnit = 128;
  const DeviceNumbers& device = TheRequest().device;
  const size_t smem = kernel.static_smem_bytes + dynamic_smem;
  if (threads == 0 || threads > MaxThreads(kernel) || smem > size_t(device.smem_block)) return 0;
  const unsigned warps = RoundUp((threads + kWarp - 1) / kWarp, kParts);
  const unsigned by_registers = WarpsByRegisters(kernel) / warps;
  const unsigned by_threads = unsigned(device.threads_multiprocessor) / (RoundUp(threads, kWarp));
  const auto by_smem = unsigned(size_t(device.smem_multiprocessor) / RoundUp<size_t>(smem + kReservedSmem, kSmemUnit));
  return int(std::min({by_registers, by_threads, by_smem, unsigned(device.ctas_multiprocessor)}));
}

int ResidentClusters(const Kernel& kernel, const LaunchShape& shape) {
  const uint64_t size = Volume(ClusterOf(kernel, shape));
  const unsigned greatest = kernel.takes_any_cluster ? DeviceNumbers::kMaxCluster : kPortableCluster;
  const int each = std::min(CtasPerMultiprocessor(kernel, unsigned(Volume(shape.block)), shape.dynamic_smem),
                            DeviceNumbers::kMaxCtas);
  if (each == 0 || size == 0 || size > greatest) return 0;
  return TheRequest().device.clusters[size - 1][each - 1];
}

cudaError_t CheckLaunch(const Kernel& kernel, const LaunchShape& shape) {
  const dim3 &grid = shape.grid, &block = shape.block, cluster = ClusterOf(kernel, shape);
  if (Volume(grid) == 0 || grid.x > INT32_MAX || grid.y > kMaxGridYz || grid.z > kMaxGridYz || Volume(block) == 0 ||
      block.z > kMaxBlockZ || Volume(block) > unsigned(TheRequest().device.threads_block))
    return cudaErrorInvalidConfiguration;
  if (Volume(block) > MaxThreads(kernel))
    return kernel.max_threads > 0 && Volume(block) > kernel.max_threads ? cudaErrorInvalidValue
                                                                        : cudaErrorLaunchOutOfResources;
  if (shape.dynamic_smem > kernel.dynamic_smem_limit) return cudaErrorInvalidValue;
  if (Volume(cluster) == 0 || grid.x % cluster.x != 0 || grid.y % cluster.y != 0 || grid.z % cluster.z != 0)
    return cudaErrorInvalidClusterSize;
  if (Volume(cluster) > 1 && ResidentClusters(kernel, shape) == 0) return cudaErrorInvalidClusterSize;
  const auto resident = uint64_t(CtasPerMultiprocessor(kernel, unsigned(Volume(block)), shape.dynamic_smem)) *
                        unsigned(TheRequest().device.multiprocessors);
  return shape.is_cooperative && Volume(grid) > resident ? cudaErrorCooperativeLaunchTooLarge : cudaSuccess;
}

}  // namespace gemmsmith::recorder
