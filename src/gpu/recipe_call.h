// The machine code of a source on the GPU, and its recipes bound to addresses: launched in stream order, capturable.
#pragma once

#include <map>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "gpu/gpu.h"
#include "program/recipe.h"

namespace gemmsmith {

struct RecipeAddresses {
  CUdeviceptr a = 0, b = 0, c = 0, workspace = 0;
};

// A recipe for one set of addresses. Its RecipeCode outlives it.
class RecipeCall {
 public:
  // Whether a call may begin before the work ahead of it has ended. Its first step is then a kernel that the source
  // launches with a programmatic edge, and its last step is a kernel.
  bool is_chainable() const;
  // Each kernel with its launch, in order.
  std::vector<std::pair<CUfunction, Launch>> Kernels() const;
  // kNone leaves out the programmatic edge of the first step, so that calls do not overlap. The edges between the
  // steps of a call are the source's.
  Status Put(Gpu& gpu, Chaining chaining = Chaining::kNone) const;

 private:
  friend class RecipeCode;
  struct BoundKernel {
    CUfunction function = nullptr;
    KernelStep step;                // with addresses and maps in its parameters
    std::vector<uint32_t> offsets;  // of each parameter; all lie within
  };
  struct BoundMemset {
    CUdeviceptr address = 0;
    uint8_t value = 0;
    uint64_t bytes = 0;
  };
  Status PutKernel(CUstream stream, const BoundKernel& kernel, bool is_programmatic) const;

  const Driver* driver_ = nullptr;
  std::vector<std::variant<BoundKernel, BoundMemset>> steps_;
};

// The loaded cubins of a source. Errors are the driver's words.
class RecipeCode {
 public:
  RecipeCode() = default;
  static Result<RecipeCode> Load(std::span<const std::vector<uint8_t>> cubins);
  RecipeCode(RecipeCode&& other) noexcept;
  RecipeCode& operator=(RecipeCode&& other) noexcept;
  ~RecipeCode();

  // Encodes the maps, patches the parameters, raises the kernels' limits as far as this recipe needs.
  Result<RecipeCall> Bind(const Recipe& recipe, const RecipeAddresses& addresses);

 private:
  struct LoadedFunction {
    CUfunction function = nullptr;
    uint32_t dynamic_smem_bytes = 0;  // its limit
  };
  Result<CUfunction> FindFunction(const KernelStep& step);
  // Where each parameter of the kernel begins in so many bytes.
  Result<std::vector<uint32_t>> OffsetsOf(CUfunction function, const KernelStep& step) const;
  Result<RecipeCall::BoundKernel> BindKernel(const KernelStep& step, const RecipeAddresses& addresses,
                                             std::span<const CUtensorMap> maps);

  const Driver* driver_ = nullptr;
  std::vector<CUmodule> modules_;
  std::map<std::string, LoadedFunction> functions_;
};

}  // namespace gemmsmith
