// The sums that the check of a ring compares, and how far they may be off. docs/measuring.md derives the bound.
#pragma once

#include "evaluate/verify/reference.h"
#include "harness/ring_kernels.h"

namespace gemmsmith {

struct RingSums {
  bool over_rows = false;  // the weights stand over the rows of C, else over its columns: over the shorter side
  int64_t weighed = 0, kept = 0;
  int64_t segment = 0;           // elements of a sum, a power of two
  int segments = 0, padded = 0;  // one, or padded to a multiple of four
  // For an element: half a unit in the last place of a number in [1, 2), and what may be accumulated.
  double roundoff = 0, accumulated = 0;
  double deviations = 0;  // that a sum may be off

  static RingSums For(const Gemm& gemm, Maker maker);
  // Enters them into a check of products of depth k.
  void Enter(int64_t k, RingCheck& check) const;
  // The length of the vectors, differences and squares of a set.
  int64_t VectorCount(int64_t k) const { return k * padded; }
  int64_t SumCount() const { return int64_t(segments) * kept; }
};

}  // namespace gemmsmith
