// The ring: A, B and C of each call of a batch. Inputs are drawn anew every round, outputs are poisoned before a batch
// and checked behind it.
#pragma once

#include <map>
#include <vector>

#include "base/random.h"
#include "evaluate/time/device_clock.h"
#include "evaluate/verify/ring_sums.h"
#include "harness/harness_kernels.h"

namespace gemmsmith {

// Where a call finds and leaves its operands.
struct CallAddresses {
  const void* a = nullptr;
  const void* b = nullptr;
  void* c = nullptr;
};

// The sets of a ring, as many as a batch has calls.
struct RingPlan {
  int brief_sets = 2, long_sets = 3;

  // Enough sets for a batch of calls near the floor of an H100 to take as long as its kind says. Up to 256 and 512 MiB;
  // at least two sets, and three for long batches.
  static RingPlan For(const Gemm& gemm);
  int SetsOf(Batch batch) const { return batch == Batch::kBrief ? brief_sets : long_sets; }
};

class Ring {
 public:
  // For the problem in any layout; Add() makes the inputs of one. The harness outlives it.
  static Result<Ring> Create(Gpu& gpu, HarnessKernels& harness, const Gemm& gemm);
  // Upper bound of the memory of a ring, the sweep left out.
  static uint64_t BytesFor(const Gemm& gemm);
  uint64_t size_bytes() const;

  // Memory for A and B of the same problem in this layout, if it is not there.
  Status Add(const Gemm& gemm);
  // One for each call of a batch.
  std::vector<CallAddresses> SetsFor(const Layout& layout, Batch batch) const;

  // Before a race on so many sets: whatever ran between races may have written over the bands.
  Status RestoreBands(int sets);
  // New values in all inputs of so many sets, from keys that were never used.
  Status Draw(int sets);
  // Before the batch of an entry: poisons the outputs, overwrites shared memory, empties L2.
  Status PutBeforeBatch(int sets);
  // Behind it: every input is as it was drawn, every output right; what is not is mended. `fault` is a word on the
  // device, zero at first, that keeps the first fault.
  Status PutCheck(const Gemm& gemm, Maker maker, int sets, int round, uint64_t* fault);

 private:
  // One matrix of every set, and room for a band before the first and behind any.
  struct Array {
    DeviceMemory memory, checksums;
    RingOperand operand;
  };

  Ring(Gpu& gpu, HarnessKernels& harness, const RingKernels& kernels, const Gemm& gemm);
  Result<Array> MakeArray(const Operand& operand, bool lines_are_rows);
  // The bands of A, B and C, before the first and behind the last of so many sets. Arrays that are null have none.
  static RingBands BandsOf(std::array<const Array*, 3> arrays, int sets);
  const Array& InputOf(char name, const Layout& layout) const;

  Gpu* gpu_;
  HarnessKernels* harness_;
  const RingKernels* kernels_;
  RingPlan plan_;
  Random keys_;
  uint64_t bands_key_;
  uint16_t poison_ = 0;
  Array output_;
  std::map<std::pair<char, Order>, Array> inputs_;
  DeviceMemory sums_;  // checksums of A and B, vectors, differences, squares
  DeviceMemory scratch_;
  GuardedMatrix sweep_;
};

}  // namespace gemmsmith
