// A free-form source that is ready to be launched.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "problem/gemm.h"
#include "program/recipe.h"

namespace gemmsmith {

// Its machine code, and what its gemm() launches for the problem and for half of each dimension.
struct PreparedSource {
  std::vector<std::vector<uint8_t>> cubins;
  Recipe recipe;
  Shape half_shape;
  std::optional<Recipe> half_recipe;  // nullopt: gemm() returned an error for that shape
  bool operator==(const PreparedSource&) const = default;
};

}  // namespace gemmsmith
