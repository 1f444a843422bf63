// Launches and memsets: what gemm() puts on its stream.
#include <algorithm>
#include <cstdio>
#include <map>
#include <memory>

#include "compile/recorder/recorder.h"

namespace gemmsmith::recorder {

namespace {

struct Function {
  std::string name;
  Kernel* kernel = nullptr;
};

std::map<const void*, std::unique_ptr<Function>>& Functions() {
  static std::map<const void*, std::unique_ptr<Function>> functions;
  return functions;
}

// The launch shape that <<<>>> leaves for the stub of the kernel.
std::vector<LaunchShape>& PushedShapes() {
  static std::vector<LaunchShape> shapes;
  return shapes;
}

std::string Numbers(const dim3& dim) {
  return std::to_string(dim.x) + "," + std::to_string(dim.y) + "," + std::to_string(dim.z);
}

std::string Hex(const std::vector<uint8_t>& bytes) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string text;
  for (const uint8_t byte : bytes) text += {kDigits[byte >> 4], kDigits[byte & 15]};
  return text;
}

cudaError_t Record(Kernel& kernel, const LaunchShape& shape, void** arguments) {
  if (const cudaError_t error = CheckLaunch(kernel, shape); error != cudaSuccess) return Remember(error);
  CallRecord& call = PresentCall();
  if (shape.stream != call.stream) return Refuse("launches " + kernel.name + " into another stream than gemm's");
  std::vector<uint8_t> parameters(kernel.parameter_bytes);
  for (size_t i = 0; i < kernel.parameters.size(); ++i) {
    const Parameter& parameter = kernel.parameters[i];
    std::copy_n(static_cast<const uint8_t*>(arguments[i]), parameter.bytes,
                parameters.begin() + long(parameter.offset));
  }
  const std::string maps = TakeMaps(parameters);
  const int carveout = shape.carveout_percent >= 0 ? shape.carveout_percent : kernel.carveout_percent;
  call.steps += "kernel name=" + kernel.name + " grid=" + Numbers(shape.grid) + " block=" + Numbers(shape.block) +
                " cluster=" + Numbers(shape.cluster) + " smem=" + std::to_string(shape.dynamic_smem) +
                " cooperative=" + (shape.is_cooperative ? "1" : "0") +
                " programmatic=" + (shape.is_programmatic ? "1" : "0") + " carveout=" + std::to_string(carveout) +
                " parameters=" + Hex(parameters) + " addresses= maps=" + maps + "\n";
  return cudaSuccess;
}

cudaError_t Launch(const void* function, const LaunchShape& shape, void** arguments) {
  Kernel* const kernel = FindKernel(function);
  return kernel == nullptr ? Remember(cudaErrorInvalidDeviceFunction) : Record(*kernel, shape, arguments);
}

}  // namespace

CallRecord& PresentCall() {
  static CallRecord call;
  return call;
}

cudaError_t Refuse(const std::string& reason) {
  if (PresentCall().refusal.empty()) PresentCall().refusal = reason;
  return Remember(cudaErrorNotSupported);
}

Kernel* FindKernel(const void* address) {
  auto& functions = Functions();
  auto found = functions.find(address);
  if (found == functions.end())
    found = std::find_if(functions.begin(), functions.end(),
                         [&](const auto& each) { return each.second.get() == address; });
  if (found == functions.end()) return nullptr;
  Function& function = *found->second;
  if (function.kernel == nullptr)
    for (Kernel& kernel : TheRequest().kernels)
      if (kernel.name == function.name) function.kernel = &kernel;
  return function.kernel;
}

}  // namespace gemmsmith::recorder

using namespace gemmsmith::recorder;

extern "C" {

void** __cudaRegisterFatBinary(void*) {
  static void* handle = nullptr;
  return &handle;
}
void __cudaRegisterFatBinaryEnd(void**) {}
void __cudaUnregisterFatBinary(void**) {}
char __cudaInitModule(void**) { return 1; }
void __cudaRegisterVar(void**, char*, char*, const char*, int, size_t, int, int) {}
void __cudaRegisterFunction(void**, const char* host_function, char*, const char* name, int, uint3*, uint3*, dim3*,
                            dim3*, int*) {
  Functions()[host_function] = std::make_unique<Function>(Function{name});
}

unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block, size_t smem, CUstream_st* stream) {
  PushedShapes().push_back({.grid = grid, .block = block, .dynamic_smem = smem, .stream = stream});
  return 0;
}
cudaError_t __cudaPopCallConfiguration(dim3* grid, dim3* block, size_t* smem, void* stream) {
  auto& shapes = PushedShapes();
  if (shapes.empty()) return Remember(cudaErrorMissingConfiguration);
  const LaunchShape shape = shapes.back();
  shapes.pop_back();
  *grid = shape.grid, *block = shape.block, *smem = shape.dynamic_smem;
  *static_cast<cudaStream_t*>(stream) = shape.stream;
  return cudaSuccess;
}

cudaError_t __cudaGetKernel(cudaKernel_t* kernel, const void* function) {
  const auto found = Functions().find(function);
  if (found == Functions().end()) return Remember(cudaErrorInvalidDeviceFunction);
  *kernel = reinterpret_cast<cudaKernel_t>(found->second.get());
  return cudaSuccess;
}
cudaError_t cudaGetKernel(cudaKernel_t* kernel, const void* function) { return __cudaGetKernel(kernel, function); }

cudaError_t cudaLaunchKernel(const void* function, dim3 grid, dim3 block, void** arguments, size_t smem,
                             cudaStream_t stream) {
  return Launch(function, {.grid = grid, .block = block, .dynamic_smem = smem, .stream = stream}, arguments);
}
cudaError_t __cudaLaunchKernel(cudaKernel_t kernel, dim3 grid, dim3 block, void** arguments, size_t smem,
                               cudaStream_t stream) {
  return cudaLaunchKernel(kernel, grid, block, arguments, smem, stream);
}
cudaError_t cudaLaunchCooperativeKernel(const void* function, dim3 grid, dim3 block, void** arguments, size_t smem,
                                        cudaStream_t stream) {
  const LaunchShape shape = {
      .grid = grid, .block = block, .dynamic_smem = smem, .stream = stream, .is_cooperative = true};
  return Launch(function, shape, arguments);
}
cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t* config, const void* function, void** arguments) {
  LaunchShape shape;
  const cudaError_t read = ReadLaunchConfig(*config, shape);
  return read == cudaSuccess ? Launch(function, shape, arguments) : read;
}

cudaError_t cudaMemsetAsync(void* address, int value, size_t bytes, cudaStream_t stream) {
  CallRecord& call = PresentCall();
  if (stream != call.stream) return Refuse("sets memory in another stream than gemm's");
  if (bytes == 0) return cudaSuccess;
  call.steps += "memset address=a+" + std::to_string(reinterpret_cast<uintptr_t>(address)) +
                " value=" + std::to_string(value & 0xff) + " bytes=" + std::to_string(bytes) + "\n";
  return cudaSuccess;
}
}
