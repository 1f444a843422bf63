// Money.
#pragma once

namespace gemmsmith {

// Dollars for a million tokens.
struct TokenPrice {
  double prompt = 0, answer = 0;
};

}  // namespace gemmsmith
