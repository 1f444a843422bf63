// The matrix products of public models, and how often a step of a model has each. docs/models.md says where they are
// from.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "problem/gemm.h"

namespace gemmsmith {

// Which pass of a layer Y = X W^T the product is. X has a row a token, W a row an output feature, both row-major.
enum class Pass : uint8_t {
  kForward,         // Y = X W^T: tn
  kInputGradient,   // dX = dY W: nn
  kWeightGradient,  // dW = dY^T X: col-row, since dY is stored token by token
};
std::string_view Name(Pass pass);  // "fwd", "dgrad", "wgrad"

struct ModelProduct {
  std::string_view model, layer;
  Pass pass = Pass::kForward;
  Shape shape;
  Layout layout;
  int weight = 0;  // times in a step of the model

  int tokens() const { return pass == Pass::kWeightGradient ? shape.k : shape.m; }
};
// In the order of the table; the rows of a model stand next to each other.
const std::vector<ModelProduct>& ModelProducts();

// Groups of products by m: to 64, to 512, and above.
enum class ModelGroup : uint8_t { kDecode, kMiddle, kLarge };
inline constexpr ModelGroup kModelGroups[] = {ModelGroup::kDecode, ModelGroup::kMiddle, ModelGroup::kLarge};
std::string_view Name(ModelGroup group);  // "decode", "middle", "large"
ModelGroup GroupOf(const Shape& shape);

// The table's text.
std::string_view ModelProductsCsv();

}  // namespace gemmsmith
