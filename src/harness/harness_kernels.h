// The harness's kernels (harness.cu), compiled when a worker starts, as functions. All in stream order; nothing waits
// but ReadReport().
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "compile/compiler.h"
#include "harness/operands.h"

namespace gemmsmith {

struct Differences {
  double error_squares = 0, reference_squares = 0;
  uint64_t worst = 0;  // bits of the largest error (NaN: infinity) << 32 | low 32 bits of its index
  uint64_t failures = 0;
  uint64_t first_failure_complement = 0;  // 0: nothing failed
  uint32_t largest_reference = 0;         // bits of a float
  uint32_t unused = 0;

  float MaxAbsError() const;
  float LargestReference() const;
  uint64_t WorstIndex() const { return worst & 0xffffffff; }
  uint64_t FirstFailure() const { return ~first_failure_complement; }
};

// Findings of the judging kernels since ResetReport(). All zeros is the empty report.
struct HarnessReport {
  Differences differences;
  uint64_t broken_a = 0, broken_b = 0, broken_c = 0, broken_workspace = 0;
  uint64_t nonzero_workspace = 0;
  uint64_t checksum_a = 0, checksum_b = 0;
};

// Which elements of an output pass. As harness.cu declares it.
struct Acceptance {
  float exact_below = 0;  // where the reference is smaller, the element equals it
  // Elsewhere its error is at most this, and this share of the reference, and in no case more than the last one.
  float fixed = 0, share = 0, most = std::numeric_limits<float>::infinity();
  bool special = false;  // NaN and infinity stand where the reference has them

  double At(double reference) const {
    return std::abs(reference) < exact_below ? 0 : std::min(double(most), fixed + share * std::abs(reference));
  }
  // The same, and no error larger than this, if it is positive.
  Acceptance Within(double max_abs_error) const;
};

// The objects of an inspection: operands, each may be null, and the elements of C if there is a reference.
struct Inspection {
  const GuardedMatrix* a = nullptr;
  const GuardedMatrix* b = nullptr;
  const GuardedMatrix* c = nullptr;
  const GuardedWorkspace* workspace = nullptr;
  const float* reference = nullptr;
  Acceptance acceptance;
};

// As harness.cu declares it; input_values.cuh has the patterned ones.
enum class Filling : int32_t { kNormal, kBinary, kUniform, kCancellingA, kCancellingB, kSpecialA, kSpecialB };
struct FillDetails {
  double parameter = 0;    // for kBinary the share of ones, for kUniform the largest number
  uint64_t seed_of_b = 0;  // of the B beside it, for kSpecialA
};

class RingKernels;

class HarnessKernels {
 public:
  ~HarnessKernels();
  static Result<std::unique_ptr<HarnessKernels>> Load(Gpu& gpu, Compiler& compiler);

  Status Fill(const MatrixView& matrix, Filling filling, uint64_t seed, const FillDetails& details = {});
  Status Poison(const MatrixView& matrix);
  // The pattern of the matrix in all of its memory: the elements must be filled again.
  Status Paint(const GuardedMatrix& matrix);
  // Copies the elements of one or two matrices, to the same strides, after some 20 us. A launch behind it with a
  // programmatic edge may begin at once.
  struct ElementCopy {
    const GuardedMatrix* from = nullptr;
    const GuardedMatrix* to = nullptr;
  };
  Status WriteLate(std::span<const ElementCopy> copies);
  // Packed, row-major c[m, n] in f32, summed in f64.
  Status Multiply(const MatrixView& a, const MatrixView& b, float* c, int64_t m, int64_t n, int64_t k);
  Status Gather(const MatrixView& from, float* to, int64_t rows, int64_t columns, int64_t row_step,
                int64_t column_step);

  Status ResetReport();
  // Elements, checksums, canaries and zeros in one launch.
  Status Inspect(const Inspection& inspection);
  // Elements alone.
  Status Compare(const MatrixView& c, const float* reference, const Acceptance& acceptance);
  Result<HarnessReport> ReadReport();

  // Busy for this many clock cycles of one thread.
  Status Spin(int64_t cycles);
  // Busy for about 0.1 ms: long enough to put a batch on the stream behind it.
  Status LeadIn() { return Spin(200'000); }

  // Those of the ring, loaded when they are first asked for.
  Result<const RingKernels*> Ring();

 private:
  enum {
    kFillKernel,
    kPoisonKernel,
    kReferenceKernel,
    kGatherKernel,
    kInspectKernel,
    kSpinKernel,
    kPaintKernel,
    kLateKernel,
    kKernelCount
  };
  explicit HarnessKernels(Gpu& gpu);
  // The address of a field of the report on the device.
  template <class T>
  T* InReport(T HarnessReport::*field) const;

  Gpu& gpu_;
  std::array<Kernel, kKernelCount> kernels_;
  DeviceMemory report_;
  PageLockedMemory report_on_host_;  // read once a test: the driver copies to other memory in two steps
  std::vector<uint8_t> cubin_;
  std::unique_ptr<const RingKernels> ring_;
};

}  // namespace gemmsmith
