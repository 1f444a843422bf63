#include "gpu/recipe_call.h"

#include <array>
#include <cstring>
#include <utility>

namespace gemmsmith {

namespace {

CUdeviceptr AddressOf(const OperandAddress& at, const RecipeAddresses& addresses) {
  const CUdeviceptr base = at.operand == CallOperand::kA   ? addresses.a
                           : at.operand == CallOperand::kB ? addresses.b
                           : at.operand == CallOperand::kC ? addresses.c
                                                           : addresses.workspace;
  return base + CUdeviceptr(at.offset);
}

CUresult Encode(const Driver& driver, const RecipeMap& map, const RecipeAddresses& addresses, CUtensorMap* to) {
  return driver.cuTensorMapEncodeTiled(to, CUtensorMapDataType(map.type), map.rank,
                                       reinterpret_cast<void*>(uintptr_t(AddressOf(map.address, addresses))),
                                       map.extent.data(), map.stride_bytes.data(), map.box.data(),
                                       map.element_strides.data(), CUtensorMapInterleave(map.interleave),
                                       CUtensorMapSwizzle(map.swizzle), CUtensorMapL2promotion(map.l2_promotion),
                                       CUtensorMapFloatOOBfill(map.out_of_bounds));
}

// A recipe that this program did not make may place anything anywhere.
Status Patch(std::vector<uint8_t>& parameters, uint32_t at, const void* bytes, size_t count) {
  if (parameters.size() < count || at > parameters.size() - count)
    return InvalidArgument(fmt::format("a place at byte {} of {} bytes of parameters", at, parameters.size()));
  std::memcpy(parameters.data() + at, bytes, count);
  return OkStatus();
}

}  // namespace

bool RecipeCall::is_chainable() const {
  if (steps_.empty()) return false;
  const auto* const first = std::get_if<BoundKernel>(&steps_.front());
  return first != nullptr && first->step.is_programmatic && std::holds_alternative<BoundKernel>(steps_.back());
}

std::vector<std::pair<CUfunction, Launch>> RecipeCall::Kernels() const {
  std::vector<std::pair<CUfunction, Launch>> kernels;
  for (const auto& step : steps_) {
    const auto* const kernel = std::get_if<BoundKernel>(&step);
    if (kernel == nullptr) continue;
    Launch launch;
    launch.grid = kernel->step.grid, launch.block = kernel->step.block, launch.cluster = kernel->step.cluster;
    launch.smem_bytes = kernel->step.smem_bytes;
    kernels.emplace_back(kernel->function, launch);
  }
  return kernels;
}

// A programmatic edge joins two kernels: behind a memset it means nothing.
Status RecipeCall::Put(Gpu& gpu, Chaining chaining) const {
  bool may_overlap = chaining == Chaining::kProgrammatic && is_chainable();
  for (const auto& step : steps_) {
    if (const auto* const kernel = std::get_if<BoundKernel>(&step)) {
      RETURN_IF_ERROR(PutKernel(gpu.stream(), *kernel, may_overlap && kernel->step.is_programmatic));
      may_overlap = true;
      continue;
    }
    const auto& memset = std::get<BoundMemset>(step);
    RETURN_IF_ERROR(gpu.Fill8(memset.address, memset.value, memset.bytes));
    may_overlap = false;
  }
  return OkStatus();
}

// Parameters go one by one: a capture refuses a cooperative kernel whose parameters come as one buffer.
Status RecipeCall::PutKernel(CUstream stream, const BoundKernel& kernel, bool is_programmatic) const {
  const KernelStep& step = kernel.step;
  std::array<CUlaunchAttribute, 4> attributes{};
  CUlaunchConfig config{};
  config.gridDimX = step.grid.x, config.gridDimY = step.grid.y, config.gridDimZ = step.grid.z;
  config.blockDimX = step.block.x, config.blockDimY = step.block.y, config.blockDimZ = step.block.z;
  config.sharedMemBytes = step.smem_bytes;
  config.hStream = stream;
  config.attrs = attributes.data();
  const auto add = [&](CUlaunchAttributeID id) -> CUlaunchAttributeValue& {
    CUlaunchAttribute& attribute = attributes[config.numAttrs++];
    attribute.id = id;
    return attribute.value;
  };
  if (step.cluster != Dim3{})
    add(CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION).clusterDim = {step.cluster.x, step.cluster.y, step.cluster.z};
  if (step.is_cooperative) add(CU_LAUNCH_ATTRIBUTE_COOPERATIVE).cooperative = 1;
  if (is_programmatic)
    add(CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION).programmaticStreamSerializationAllowed = 1;
  if (step.carveout_percent >= 0)
    add(CU_LAUNCH_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT).sharedMemCarveout = unsigned(step.carveout_percent);
  std::vector<void*> parameters;
  for (const uint32_t offset : kernel.offsets) parameters.push_back(const_cast<uint8_t*>(&step.parameters[offset]));
  RETURN_IF_CUDA_ERROR(driver_->cuLaunchKernelEx(&config, kernel.function, parameters.data(), nullptr));
  return OkStatus();
}

Result<RecipeCode> RecipeCode::Load(std::span<const std::vector<uint8_t>> cubins) {
  RecipeCode code;
  ASSIGN_OR_RETURN(code.driver_, Driver::Open());
  const Driver* const driver = code.driver_;
  for (const std::vector<uint8_t>& cubin : cubins) {
    CUmodule module = nullptr;
    RETURN_IF_CUDA_ERROR(driver->cuModuleLoadDataEx(&module, cubin.data(), 0, nullptr, nullptr));
    code.modules_.push_back(module);
  }
  return code;
}

RecipeCode::RecipeCode(RecipeCode&& other) noexcept { *this = std::move(other); }
RecipeCode& RecipeCode::operator=(RecipeCode&& other) noexcept {
  std::swap(driver_, other.driver_);
  std::swap(modules_, other.modules_);
  std::swap(functions_, other.functions_);
  return *this;
}
RecipeCode::~RecipeCode() {
  for (CUmodule module : modules_) driver_->cuModuleUnload(module);
}

Result<CUfunction> RecipeCode::FindFunction(const KernelStep& step) {
  LoadedFunction& loaded = functions_[step.kernel];
  CUresult found = loaded.function != nullptr ? CUDA_SUCCESS : CUDA_ERROR_NOT_FOUND;
  for (size_t i = 0; i < modules_.size() && found == CUDA_ERROR_NOT_FOUND; ++i)
    found = driver_->cuModuleGetFunction(&loaded.function, modules_[i], step.kernel.c_str());
  if (found == CUDA_ERROR_NOT_FOUND) return NotFound(fmt::format("no kernel '{}' in the machine code", step.kernel));
  RETURN_IF_ERROR(DriverStatus(found, "cuModuleGetFunction"));
  if (step.smem_bytes > loaded.dynamic_smem_bytes) {
    RETURN_IF_CUDA_ERROR(driver_->cuFuncSetAttribute(loaded.function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
                                                     int(step.smem_bytes)));
    loaded.dynamic_smem_bytes = step.smem_bytes;
  }
  // A kernel may have a cluster of its own. A GPU without clusters refuses this, and every cluster at its launch.
  (void)driver_->cuFuncSetAttribute(loaded.function, CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED, 1);
  return loaded.function;
}

Result<std::vector<uint32_t>> RecipeCode::OffsetsOf(CUfunction function, const KernelStep& step) const {
  const size_t all = step.parameters.size();
  std::vector<uint32_t> offsets;
  while (true) {
    size_t offset = 0, bytes = 0;
    const CUresult found = driver_->cuFuncGetParamInfo(function, offsets.size(), &offset, &bytes);
    if (found == CUDA_ERROR_INVALID_VALUE) return offsets;  // no further one
    RETURN_IF_ERROR(DriverStatus(found, "cuFuncGetParamInfo"));
    if (bytes == 0 || bytes > all || offset > all - bytes)
      return InvalidArgument(fmt::format("kernel '{}' has a parameter of {} bytes at byte {}, the recipe {} bytes",
                                         step.kernel, bytes, offset, all));
    offsets.push_back(uint32_t(offset));
  }
}

Result<RecipeCall::BoundKernel> RecipeCode::BindKernel(const KernelStep& step, const RecipeAddresses& addresses,
                                                       std::span<const CUtensorMap> maps) {
  static_assert(sizeof(CUtensorMap) == kTensorMapBytes);
  RecipeCall::BoundKernel bound;
  ASSIGN_OR_RETURN(bound.function, FindFunction(step));
  ASSIGN_OR_RETURN(bound.offsets, OffsetsOf(bound.function, step));
  bound.step = step;
  std::vector<uint8_t>& parameters = bound.step.parameters;
  for (const AddressPlace& place : step.addresses) {
    const CUdeviceptr address = AddressOf(place.address, addresses);
    RETURN_IF_ERROR(Patch(parameters, place.at, &address, sizeof address));
  }
  for (const MapPlace& place : step.maps) {
    if (place.map >= maps.size())
      return InvalidArgument(fmt::format("map {} of a recipe with {}", place.map, maps.size()));
    RETURN_IF_ERROR(Patch(parameters, place.at, &maps[place.map], sizeof(CUtensorMap)));
  }
  return bound;
}

Result<RecipeCall> RecipeCode::Bind(const Recipe& recipe, const RecipeAddresses& addresses) {
  std::vector<CUtensorMap> maps(recipe.maps.size());
  for (size_t i = 0; i < maps.size(); ++i)
    RETURN_IF_ERROR(DriverStatus(Encode(*driver_, recipe.maps[i], addresses, &maps[i]), "cuTensorMapEncodeTiled"));
  RecipeCall call;
  call.driver_ = driver_;
  for (const auto& step : recipe.steps) {
    if (const auto* const kernel = std::get_if<KernelStep>(&step)) {
      ASSIGN_OR_RETURN(RecipeCall::BoundKernel bound, BindKernel(*kernel, addresses, maps));
      call.steps_.emplace_back(std::move(bound));
      continue;
    }
    const auto& memset = std::get<MemsetStep>(step);
    call.steps_.emplace_back(RecipeCall::BoundMemset{AddressOf(memset.address, addresses), memset.value, memset.bytes});
  }
  return call;
}

}  // namespace gemmsmith
