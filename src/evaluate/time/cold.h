// Operands that no call finds in L2: copies that calls alternate with, and a sweep that empties L2 before a batch.
#pragma once

#include "evaluate/verify/harness_kernels.h"

namespace gemmsmith {

// Where a call finds and leaves its operands.
struct CallAddresses {
  const void* a = nullptr;
  const void* b = nullptr;
  void* c = nullptr;
};

// How calls stay cold. The sets together exceed twice L2, and calls alternate between them. If 64 sets of small
// operands do not exceed it, a batch calls once on each set after a sweep has emptied L2.
struct ColdPlan {
  int sets = 1;
  bool once_each = false;

  static ColdPlan For(uint64_t set_bytes, uint64_t l2_bytes);
  // The calls of a batch that would hold `warm_calls` if it were warm.
  int CallsIn(int warm_calls) const { return once_each ? sets : warm_calls; }
};

// Copies of one matrix, number 0 being the matrix itself.
class MatrixCopies {
 public:
  static Result<MatrixCopies> Create(Gpu& gpu, const GuardedMatrix& original, int sets);
  uint64_t size_bytes() const { return memory_.size_bytes(); }  // of the copies alone
  void* at(int set) const;
  // The copies as the original is now.
  Status Refresh(Gpu& gpu) const;

 private:
  const GuardedMatrix* original_ = nullptr;
  DeviceMemory memory_;
  uint64_t step_bytes_ = 0;
  int sets_ = 1;
};

// Throws what L2 holds out of it, by reading twice as much: nothing is left to be written back later.
class Sweep {
 public:
  static Result<Sweep> Create(Gpu& gpu, uint64_t l2_bytes);
  Status Put(HarnessKernels& harness) const { return harness.Inspect({.a = &matrix_}); }

 private:
  GuardedMatrix matrix_;
};

}  // namespace gemmsmith
