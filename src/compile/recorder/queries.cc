// Queries of device and kernels, answered from the numbers of the request.
#include <cstdio>

#include "compile/recorder/recorder.h"

using namespace gemmsmith::recorder;

extern "C" {

cudaError_t cudaGetDevice(int* device) { return *device = 0, cudaSuccess; }
cudaError_t cudaGetDeviceCount(int* count) { return *count = 1, cudaSuccess; }

cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int device) {
  if (device != 0) return Remember(cudaErrorInvalidDevice);
  const DeviceNumbers& numbers = TheRequest().device;
  cudaDeviceProp filled = {};
  std::snprintf(filled.name, sizeof filled.name, "%s", numbers.name.c_str());
  filled.major = numbers.major, filled.minor = numbers.minor;
  filled.multiProcessorCount = numbers.multiprocessors;
  filled.warpSize = kWarp;
  filled.sharedMemPerBlock = kOrdinarySmem, filled.sharedMemPerBlockOptin = size_t(numbers.smem_block);
  filled.sharedMemPerMultiprocessor = size_t(numbers.smem_multiprocessor);
  filled.reservedSharedMemPerBlock = kReservedSmem;
  filled.regsPerBlock = filled.regsPerMultiprocessor = numbers.registers;
  filled.maxThreadsPerBlock = numbers.threads_block;
  filled.maxThreadsPerMultiProcessor = numbers.threads_multiprocessor;
  filled.maxBlocksPerMultiProcessor = numbers.ctas_multiprocessor;
  filled.maxThreadsDim[0] = filled.maxThreadsDim[1] = numbers.threads_block, filled.maxThreadsDim[2] = kMaxBlockZ;
  filled.maxGridSize[0] = INT32_MAX, filled.maxGridSize[1] = filled.maxGridSize[2] = kMaxGridYz;
  filled.l2CacheSize = numbers.l2_bytes;
  filled.cooperativeLaunch = 1, filled.clusterLaunch = numbers.major >= 9;
  filled.unifiedAddressing = filled.concurrentKernels = 1;
  *properties = filled;
  return cudaSuccess;
}

cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int device) {
  cudaDeviceProp properties;
  if (const cudaError_t error = cudaGetDeviceProperties(&properties, device); error != cudaSuccess) return error;
  const struct {
    cudaDeviceAttr attribute;
    size_t value;
  } kValues[] = {
      {cudaDevAttrMaxThreadsPerBlock, size_t(properties.maxThreadsPerBlock)},
      {cudaDevAttrMaxBlockDimX, size_t(properties.maxThreadsDim[0])},
      {cudaDevAttrMaxBlockDimY, size_t(properties.maxThreadsDim[1])},
      {cudaDevAttrMaxBlockDimZ, size_t(properties.maxThreadsDim[2])},
      {cudaDevAttrMaxGridDimX, size_t(properties.maxGridSize[0])},
      {cudaDevAttrMaxGridDimY, size_t(properties.maxGridSize[1])},
      {cudaDevAttrMaxGridDimZ, size_t(properties.maxGridSize[2])},
      {cudaDevAttrMaxSharedMemoryPerBlock, properties.sharedMemPerBlock},
      {cudaDevAttrWarpSize, kWarp},
      {cudaDevAttrMaxRegistersPerBlock, size_t(properties.regsPerBlock)},
      {cudaDevAttrMultiProcessorCount, size_t(properties.multiProcessorCount)},
      {cudaDevAttrL2CacheSize, size_t(properties.l2CacheSize)},
      {cudaDevAttrMaxThreadsPerMultiProcessor, size_t(properties.maxThreadsPerMultiProcessor)},
      {cudaDevAttrComputeCapabilityMajor, size_t(properties.major)},
      {cudaDevAttrComputeCapabilityMinor, size_t(properties.minor)},
      {cudaDevAttrMaxSharedMemoryPerMultiprocessor, properties.sharedMemPerMultiprocessor},
      {cudaDevAttrMaxRegistersPerMultiprocessor, size_t(properties.regsPerMultiprocessor)},
      {cudaDevAttrCooperativeLaunch, size_t(properties.cooperativeLaunch)},
      {cudaDevAttrMaxSharedMemoryPerBlockOptin, properties.sharedMemPerBlockOptin},
      {cudaDevAttrMaxBlocksPerMultiprocessor, size_t(properties.maxBlocksPerMultiProcessor)},
      {cudaDevAttrReservedSharedMemoryPerBlock, properties.reservedSharedMemPerBlock},
      {cudaDevAttrConcurrentKernels, 1},
      {cudaDevAttrClusterLaunch, size_t(properties.clusterLaunch)},
  };
  for (const auto& known : kValues)
    if (known.attribute == attribute) return *value = int(known.value), cudaSuccess;
  return Refuse("asks for device attribute " + std::to_string(int(attribute)) + ", which the contract does not have");
}

cudaError_t cudaFuncSetAttribute(const void* function, cudaFuncAttribute attribute, int value) {
  Kernel* const kernel = FindKernel(function);
  if (kernel == nullptr) return Remember(cudaErrorInvalidDeviceFunction);
  const int greatest_smem = TheRequest().device.smem_block - int(kernel->static_smem_bytes);
  switch (attribute) {
    case cudaFuncAttributeMaxDynamicSharedMemorySize:
      if (value < 0 || value > greatest_smem) return Remember(cudaErrorInvalidValue);
      kernel->dynamic_smem_limit = size_t(value);
      return cudaSuccess;
    case cudaFuncAttributePreferredSharedMemoryCarveout:
      if (value < -1 || value > 100) return Remember(cudaErrorInvalidValue);
      kernel->carveout_percent = value;
      return cudaSuccess;
    case cudaFuncAttributeNonPortableClusterSizeAllowed:
      kernel->takes_any_cluster = value != 0;
      return cudaSuccess;
    case cudaFuncAttributeClusterSchedulingPolicyPreference:  // a hint
      return cudaSuccess;
    default:
      return Refuse("sets function attribute " + std::to_string(int(attribute)) + ", which the contract does not have");
  }
}

// A hint to the division between L1 and shared memory.
cudaError_t cudaFuncSetCacheConfig(const void*, cudaFuncCache) { return cudaSuccess; }

cudaError_t cudaFuncGetAttributes(cudaFuncAttributes* attributes, const void* function) {
  const Kernel* const kernel = FindKernel(function);
  if (kernel == nullptr) return Remember(cudaErrorInvalidDeviceFunction);
  const DeviceNumbers& device = TheRequest().device;
  cudaFuncAttributes filled = {};
  filled.sharedSizeBytes = kernel->static_smem_bytes, filled.localSizeBytes = kernel->local_bytes;
  filled.maxThreadsPerBlock = int(MaxThreads(*kernel)), filled.numRegs = int(kernel->registers);
  filled.ptxVersion = filled.binaryVersion = device.major * 10 + device.minor;
  filled.maxDynamicSharedSizeBytes = int(kernel->dynamic_smem_limit);
  filled.preferredShmemCarveout = kernel->carveout_percent;
  filled.clusterDimMustBeSet = kernel->cluster.x > 0;
  filled.requiredClusterWidth = int(kernel->cluster.x), filled.requiredClusterHeight = int(kernel->cluster.y);
  filled.requiredClusterDepth = int(kernel->cluster.z);
  filled.nonPortableClusterSizeAllowed = kernel->takes_any_cluster;
  *attributes = filled;
  return cudaSuccess;
}

cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* blocks, const void* function, int threads,
                                                                   size_t dynamic_smem, unsigned) {
  const Kernel* const kernel = FindKernel(function);
  if (kernel == nullptr) return Remember(cudaErrorInvalidDeviceFunction);
  *blocks = CtasPerMultiprocessor(*kernel, unsigned(threads), dynamic_smem);
  return cudaSuccess;
}
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, const void* function, int threads,
                                                          size_t dynamic_smem) {
  return cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(blocks, function, threads, dynamic_smem, 0);
}

cudaError_t cudaOccupancyMaxActiveClusters(int* clusters, const void* function, const cudaLaunchConfig_t* config) {
  const Kernel* const kernel = FindKernel(function);
  if (kernel == nullptr) return Remember(cudaErrorInvalidDeviceFunction);
  LaunchShape shape;
  const cudaError_t read = ReadLaunchConfig(*config, shape);
  if (read == cudaSuccess) *clusters = ResidentClusters(*kernel, shape);
  return read;
}

cudaError_t cudaOccupancyMaxPotentialClusterSize(int* size, const void* function, const cudaLaunchConfig_t* config) {
  const Kernel* const kernel = FindKernel(function);
  if (kernel == nullptr) return Remember(cudaErrorInvalidDeviceFunction);
  LaunchShape shape;
  const cudaError_t read = ReadLaunchConfig(*config, shape);
  if (read != cudaSuccess) return read;
  for (shape.cluster = {DeviceNumbers::kMaxCluster, 1, 1}; shape.cluster.x > 1; shape.cluster.x /= 2)
    if (ResidentClusters(*kernel, shape) > 0) break;
  *size = int(shape.cluster.x);
  return cudaSuccess;
}
}
