// What one call of a source's gemm() puts on its stream, as data: kernels and memsets in order, with the places in
// their arguments where addresses stand. docs/free_form.md says how a recipe is made.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/status.h"
#include "program/launch.h"

namespace gemmsmith {

inline constexpr size_t kMaxRecipeMaps = 1024, kMaxRecipeSteps = 1024;
inline constexpr size_t kMaxParameterBytes = 32764;  // of a kernel on sm_70 and later
inline constexpr size_t kMaxRecipeTextBytes = 4 << 20;

enum class CallOperand : uint8_t { kA, kB, kC, kWorkspace };

struct OperandAddress {
  CallOperand operand = CallOperand::kA;
  int64_t offset = 0;  // in bytes
  bool operator==(const OperandAddress&) const = default;
};

// The arguments of cuTensorMapEncodeTiled, numbers as the driver has them. Unused dimensions are zero.
struct RecipeMap {
  OperandAddress address;
  uint32_t type = 0, rank = 0;
  std::array<uint64_t, 5> extent{};
  std::array<uint64_t, 4> stride_bytes{};
  std::array<uint32_t, 5> box{}, element_strides{};
  uint32_t interleave = 0, swizzle = 0, l2_promotion = 0, out_of_bounds = 0;
  bool operator==(const RecipeMap&) const = default;
};

// Eight bytes of a kernel's parameters that hold an address.
struct AddressPlace {
  uint32_t at = 0;
  OperandAddress address;
  bool operator==(const AddressPlace&) const = default;
};
// kTensorMapBytes of a kernel's parameters that hold a map of the recipe.
struct MapPlace {
  uint32_t at = 0, map = 0;
  bool operator==(const MapPlace&) const = default;
};

struct KernelStep {
  std::string kernel;  // its name in the machine code
  Dim3 grid, block;
  Dim3 cluster;             // 1x1x1: none at launch; the kernel may have one of its own
  uint32_t smem_bytes = 0;  // dynamic
  bool is_cooperative = false;
  bool is_programmatic = false;     // may begin before the step ahead has ended
  int32_t carveout_percent = -1;    // preferred share of shared memory; -1: the driver's choice
  std::vector<uint8_t> parameters;  // all of them, with zeros in every place below
  std::vector<AddressPlace> addresses;
  std::vector<MapPlace> maps;
  bool operator==(const KernelStep&) const = default;
};

struct MemsetStep {
  OperandAddress address;
  uint8_t value = 0;
  uint64_t bytes = 0;
  bool operator==(const MemsetStep&) const = default;
};

struct Recipe {
  std::vector<RecipeMap> maps;
  std::vector<std::variant<KernelStep, MemsetStep>> steps;

  bool UsesWorkspace() const;
  bool operator==(const Recipe&) const = default;
};

// One text for one recipe, a line a map or step; ParseRecipe(Print(r)) == r.
std::string Print(const Recipe& recipe);
// Whatever is not exactly so is InvalidArgument with its line. Sizes are bounded: any text may be given.
Result<Recipe> ParseRecipe(std::string_view text);

}  // namespace gemmsmith
