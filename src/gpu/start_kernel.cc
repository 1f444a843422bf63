#include "gpu/start_kernel.h"

#include <cstring>
#include <utility>

namespace gemmsmith {

namespace {

// A launch's shape and its cluster; the array is where further attributes go.
using LaunchAttributes = std::array<CUlaunchAttribute, 2>;
CUlaunchConfig ConfigOf(const Launch& launch, CUstream stream, LaunchAttributes& attributes) {
  CUlaunchConfig config{};
  config.gridDimX = launch.grid.x;
  config.gridDimY = launch.grid.y;
  config.gridDimZ = launch.grid.z;
  config.blockDimX = launch.block.x;
  config.blockDimY = launch.block.y;
  config.blockDimZ = launch.block.z;
  config.sharedMemBytes = launch.smem_bytes;
  config.hStream = stream;
  config.attrs = attributes.data();
  if (launch.cluster != Dim3{}) {
    CUlaunchAttribute& cluster = attributes[config.numAttrs++];
    cluster.id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION;
    cluster.value.clusterDim = {launch.cluster.x, launch.cluster.y, launch.cluster.z};
  }
  return config;
}

CUtensorMapSwizzle SwizzleOf(uint32_t bytes) {
  switch (bytes) {
    case 128:
      return CU_TENSOR_MAP_SWIZZLE_128B;
    case 64:
      return CU_TENSOR_MAP_SWIZZLE_64B;
    case 32:
      return CU_TENSOR_MAP_SWIZZLE_32B;
    default:
      return CU_TENSOR_MAP_SWIZZLE_NONE;
  }
}

void* AddressOf(const TensorMap& map, const GemmArguments& arguments) {
  const void* address = map.matrix == TensorMap::Matrix::kA   ? arguments.a
                        : map.matrix == TensorMap::Matrix::kB ? arguments.b
                                                              : arguments.c;
  return const_cast<void*>(address);
}

CUresult EncodeTensorMap(const Driver& driver, const TensorMap& map, ScalarType type, const GemmArguments& arguments,
                         CUtensorMap* to) {
  constexpr std::array<cuuint32_t, 3> kElementStrides = {1, 1, 1};
  return driver.cuTensorMapEncodeTiled(
      to, type == ScalarType::kF16 ? CU_TENSOR_MAP_DATA_TYPE_FLOAT16 : CU_TENSOR_MAP_DATA_TYPE_BFLOAT16,
      cuuint32_t(map.rank), AddressOf(map, arguments), map.extent.data(), map.stride_bytes.data(), map.box.data(),
      kElementStrides.data(), CU_TENSOR_MAP_INTERLEAVE_NONE, SwizzleOf(map.swizzle_bytes),
      map.fetch_bytes == 128 ? CU_TENSOR_MAP_L2_PROMOTION_L2_128B : CU_TENSOR_MAP_L2_PROMOTION_L2_256B,
      CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
}

}  // namespace

Result<Kernel> Kernel::Load(const Driver& driver, std::span<const uint8_t> cubin, const std::string& entry,
                            uint32_t dynamic_smem_bytes, bool allows_large_clusters) {
  Kernel kernel;
  kernel.driver_ = &driver;
  RETURN_IF_CUDA_ERROR(driver.cuModuleLoadDataEx(&kernel.module_, cubin.data(), 0, nullptr, nullptr));
  RETURN_IF_CUDA_ERROR(driver.cuModuleGetFunction(&kernel.function_, kernel.module_, entry.c_str()));
  if (dynamic_smem_bytes > 0)
    RETURN_IF_CUDA_ERROR(driver.cuFuncSetAttribute(kernel.function_, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
                                                   int(dynamic_smem_bytes)));
  if (allows_large_clusters)
    RETURN_IF_CUDA_ERROR(
        driver.cuFuncSetAttribute(kernel.function_, CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED, 1));
  return kernel;
}

Kernel::Kernel(Kernel&& other) noexcept { *this = std::move(other); }
Kernel& Kernel::operator=(Kernel&& other) noexcept {
  std::swap(driver_, other.driver_);
  std::swap(module_, other.module_);
  std::swap(function_, other.function_);
  std::swap(ctas_at_once_, other.ctas_at_once_);
  return *this;
}
Kernel::~Kernel() {
  if (module_ != nullptr) driver_->cuModuleUnload(module_);
}

Result<GemmParameters> ParametersFor(const Driver& driver, const Launch& launch, const GemmArguments& arguments) {
  GEMMSMITH_CHECK(launch.maps.size() <= kMaxTensorMaps, "{} tensor maps", launch.maps.size());
  GemmParameters parameters;
  std::byte* to = parameters.bytes.data();
  for (const TensorMap& map : launch.maps) {
    RETURN_IF_CUDA_ERROR(EncodeTensorMap(driver, map, launch.type, arguments, reinterpret_cast<CUtensorMap*>(to)));
    to += kTensorMapBytes;
  }
  std::memcpy(to, &arguments, sizeof arguments);
  return parameters;
}

Status ReplaceAddresses(const Driver& driver, const Launch& launch, const GemmArguments& arguments,
                        GemmParameters& parameters) {
  std::byte* to = parameters.bytes.data();
  for (const TensorMap& map : launch.maps) {
    RETURN_IF_CUDA_ERROR(
        driver.cuTensorMapReplaceAddress(reinterpret_cast<CUtensorMap*>(to), AddressOf(map, arguments)));
    to += kTensorMapBytes;
  }
  std::memcpy(to, &arguments, sizeof arguments);
  return OkStatus();
}

Result<int64_t> CtasAtOnce(const Driver& driver, CUfunction kernel, const Launch& launch, int multiprocessors) {
  if (launch.cluster == Dim3{}) {
    int of_multiprocessor = 0;
    RETURN_IF_CUDA_ERROR(driver.cuOccupancyMaxActiveBlocksPerMultiprocessor(
        &of_multiprocessor, kernel, int(launch.block.x * launch.block.y * launch.block.z), launch.smem_bytes));
    return int64_t(of_multiprocessor) * multiprocessors;
  }
  LaunchAttributes attributes{};
  const CUlaunchConfig config = ConfigOf(launch, nullptr, attributes);
  int clusters = 0;
  RETURN_IF_CUDA_ERROR(driver.cuOccupancyMaxActiveClusters(&clusters, kernel, &config));
  return int64_t(clusters) * launch.cluster.x * launch.cluster.y * launch.cluster.z;
}

Result<uint32_t> Kernel::GridFor(const Launch& launch, int multiprocessors) const {
  if (launch.fills_gpu && ctas_at_once_ == 0) {
    ASSIGN_OR_RETURN(ctas_at_once_, CtasAtOnce(*driver_, function_, launch, multiprocessors));
    if (ctas_at_once_ == 0) return Unavailable("not one of the launch's clusters fits on this GPU");
  }
  return CtasToLaunch(launch, uint32_t(ctas_at_once_));
}

CUresult StartOn(CUstream stream, const Driver& driver, CUfunction kernel, const Launch& launch, uint32_t grid_x,
                 void** arguments, Chaining chaining) {
  LaunchAttributes attributes{};
  CUlaunchConfig config = ConfigOf(launch, stream, attributes);
  config.gridDimX = grid_x;
  if (chaining == Chaining::kProgrammatic) {
    GEMMSMITH_CHECK(launch.chainable, "a kernel that does not wait for the launch before it");
    CUlaunchAttribute& programmatic = attributes[config.numAttrs++];
    programmatic.id = CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION;
    programmatic.value.programmaticStreamSerializationAllowed = 1;
  } else if (launch.is_cooperative) {
    CUlaunchAttribute& cooperative = attributes[config.numAttrs++];
    cooperative.id = CU_LAUNCH_ATTRIBUTE_COOPERATIVE;
    cooperative.value.cooperative = 1;
  }
  return driver.cuLaunchKernelEx(&config, kernel, arguments, nullptr);
}

}  // namespace gemmsmith
