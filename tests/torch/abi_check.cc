// Compiles where python/aten/torch_abi.h declares what torch's headers declare: without_gpu.sh tries it.
#define USE_CUDA
#include <torch/csrc/inductor/aoti_torch/c/shim.h>
#include <torch/csrc/inductor/aoti_torch/generated/c_shim_cuda.h>
#include <torch/csrc/stable/c/shim.h>

#include <type_traits>

#include "torch_abi.h"

using gemmsmith::aten::TorchAbi;

static_assert(gemmsmith::aten::kTorchVersion == TORCH_VERSION_2_10_0);
static_assert(std::is_same_v<gemmsmith::aten::Value, StableIValue>);
static_assert(std::is_same_v<gemmsmith::aten::Error, AOTITorchError>);
#define GEMMSMITH_SAME(name, ...) static_assert(std::is_same_v<decltype(TorchAbi::name), decltype(&::name)>);
GEMMSMITH_TORCH_FUNCTIONS(GEMMSMITH_SAME)
GEMMSMITH_TORCH_CUDA_FUNCTIONS(GEMMSMITH_SAME)
