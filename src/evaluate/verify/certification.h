// The CPU's f32 product of every element as the definition of truth: what a finished kernel and the baselines beside it
// are certified against. In blocks, so that the host never holds a whole matrix.
#pragma once

#include "evaluate/verify/reference.h"

namespace gemmsmith {

// Told before each block, which takes a second or less.
using BlockListener = std::function<void()>;

// The CPU's product, on the GPU, where outputs are compared with it. On the way every element of the f64 product that
// the GPU makes is compared too: a difference is IoError, since then neither can be believed.
Result<Reference> MakeReferenceOnCpu(Gpu& gpu, HarnessKernels& harness, const Gemm& gemm, const GuardedMatrix& a,
                                     const GuardedMatrix& b, InputKind kind, const BlockListener& on_block);

// Result of the CPU's comparison of an output with a reference, element by element.
struct CpuComparison {
  double max_abs_error = 0;
  uint64_t failures = 0;        // elements that are not accepted; NaN is such a one
  int64_t row = 0, column = 0;  // of the first
  float got = 0, expected = 0;

  void Add(const CpuComparison& later);
  std::string Describe(const Shape& shape) const;
};
Result<CpuComparison> CompareOnCpu(Gpu& gpu, HarnessKernels& harness, const Shape& shape, const GuardedMatrix& output,
                                   const Reference& reference, const Acceptance& acceptance,
                                   const BlockListener& on_block);

// Adds a block of elements, row-major, whose first stands at [row, column]; of a large one on all cores.
void Compare(std::span<const float> got, std::span<const float> expected, int64_t columns, int64_t row, int64_t column,
             const Acceptance& acceptance, CpuComparison& comparison);

}  // namespace gemmsmith
