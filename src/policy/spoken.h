// The part of a plan that a policy's tokens can say. The token language is older than some axes and values, and weights
// depend on it; a value without a word is said as another one.
#pragma once

#include <cstddef>
#include <span>

#include "program/family.h"

namespace gemmsmith {

// The first so many axes of a family have words.
size_t SpokenAxisCount(const Family& family);
// Values with a word, in the order of the words.
std::span<const int> SpokenValues(const Family& family, size_t axis);
// The value that the words say instead of this one.
int AsSpoken(const Family& family, size_t axis, int value);
// Whether the words say all of the plan: each value has a word, and axes without words stand at their default.
bool IsSpokenWhole(const Plan& plan);

}  // namespace gemmsmith
