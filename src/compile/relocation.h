// Finds addresses in what several calls of the same gemm() asked for.
#pragma once

#include <array>
#include <span>
#include <string>

#include "program/recipe.h"

namespace gemmsmith {

// One call. Its recipe is absolute: every address counts from zero, words of parameters are as the source wrote them.
struct RecordedCall {
  std::array<uint64_t, 4> addresses{};  // of the operands, in the order of CallOperand
  Recipe recipe;
};

// Makes `recipe` from calls that differ only in their addresses. A word that differs must differ exactly as one
// operand's address does. Returns why there is no recipe, or an empty text.
std::string Relocate(std::span<const RecordedCall> calls, Recipe& recipe);

}  // namespace gemmsmith
