// Operands that sources are tested on beyond those of plans: at the least alignment with unmapped addresses behind
// them, and half of each dimension. All canaries follow a pattern that is drawn anew for each source.
#pragma once

#include <functional>
#include <memory>

#include "base/random.h"
#include "evaluate/time/ring.h"
#include "evaluate/verify/reference.h"
#include "gpu/fenced_memory.h"

namespace gemmsmith {

// Where a matrix of so many bytes begins in `allocated` ones: at an odd multiple of 16 bytes, and `steps` times 32
// bytes before the last such place.
uint64_t LeastAlignedOffset(uint64_t allocated_bytes, uint64_t matrix_bytes, uint64_t steps);
// The last multiple of 16 bytes where it may begin.
uint64_t LastOffset(uint64_t allocated_bytes, uint64_t matrix_bytes);

class SourceOperands {
 public:
  // A, B, C and what a call of their problem is watched with.
  struct Set {
    Gemm gemm;
    GuardedMatrix a, b, c;
    CallAddresses addresses;  // for calls; of full(), A and B are read-only there
    Inputs inputs;            // of A and B above
  };

  // Upper bound of their GPU memory.
  static uint64_t BytesFor(const Gemm& gemm);
  // `normal` outlives it: the inputs that are timed.
  static Result<std::unique_ptr<SourceOperands>> Create(Gpu& gpu, HarnessKernels& harness, const Gemm& gemm,
                                                        const Shape& half_shape, const Inputs& normal);

  // Draws alignments and patterns and fills everything: what a source did to it before is undone.
  Status Draw(Random& random, uint64_t workspace_bytes);
  // Then full() anew, its matrices as near to the fence as can be.
  Status DrawAtTheFence(Random& random);
  const Set& full() const { return full_; }
  const Set& half() const { return half_; }
  const GuardedWorkspace& workspace() const { return workspace_; }

 private:
  SourceOperands(Gpu& gpu, HarnessKernels& harness, const Inputs& normal)
      : gpu_(gpu), harness_(harness), normal_(normal) {}
  Status Allocate();
  using Offset = std::function<uint64_t(uint64_t allocated_bytes, uint64_t matrix_bytes)>;
  Status DrawFull(const Offset& offset, Random& random);
  Status DrawHalf(Random& random);
  Status JudgeHalf();

  Gpu& gpu_;
  HarnessKernels& harness_;
  const Inputs& normal_;
  Set full_, half_;
  FencedMemory a_memory_, b_memory_, c_memory_;
  DeviceMemory half_a_memory_, half_b_memory_, half_c_memory_, workspace_memory_;
  Reference half_reference_;
  GuardedWorkspace workspace_;
};

}  // namespace gemmsmith
