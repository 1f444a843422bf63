// The model as it is defined: every position by itself, in f64. Tests compare inference.h with it; it is some hundred
// times slower.
#pragma once

#include <span>
#include <vector>

#include "policy/model.h"
#include "policy/vocabulary.h"

namespace gemmsmith {

// By position, the logits of all words for the next one.
std::vector<std::vector<double>> ReferenceLogits(const PolicyModel& model, std::span<const Token> tokens);

}  // namespace gemmsmith
