// Inputs with their expected product, and how far an honest product may be from it.
#pragma once

#include "harness/harness_kernels.h"
#include "outcome/test_list.h"
#include "problem/gemm.h"

namespace gemmsmith {

// Share of ones. With kBinary every sum stays where the output type holds every integer. With kDenseBinary about half
// of the sums do, as long as K allows.
double BinaryDensity(InputKind kind, const GemmKind& gemm_kind, int k);
// The end of the range of uniform inputs.
double LargestUniform(int k);
// Below this the output type holds every integer: 2048 for f16, 256 for bf16.
float ExactBelow(ScalarType type);

// The expected product, in f32, packed and row-major.
struct Reference {
  DeviceMemory product;
  float largest = 0;  // of the absolute values
  const float* values() const { return product.as<const float>(); }
};
MatrixView ViewOf(const Reference& reference, const Shape& shape);

// A pair of inputs on the GPU; several layouts of the same values share one reference.
struct Inputs {
  InputKind kind = InputKind::kNormal;
  const GuardedMatrix* a = nullptr;
  const GuardedMatrix* b = nullptr;
  const Reference* reference = nullptr;
  uint64_t checksum_a = 0, checksum_b = 0;
};

// The elements of A or B for a seed, in whatever order the matrix stores them.
Status FillOperand(HarnessKernels& harness, const GuardedMatrix& matrix, char operand, InputKind kind, const Gemm& gemm,
                   uint64_t seed);
Status FillView(HarnessKernels& harness, const MatrixView& view, char operand, InputKind kind, const Gemm& gemm,
                uint64_t seed);

// How far the CPU's f32 product may be from the exact one.
double CpuRounding(InputKind kind, int64_t k);
// The f64 product of the GPU.
Result<Reference> MultiplyOnGpu(Gpu& gpu, HarnessKernels& harness, const Gemm& gemm, const GuardedMatrix& a,
                                const GuardedMatrix& b);
// Multiplies in f64 on the GPU, then compares up to 16 rows of it with the CPU's f32 product. A difference is IoError:
// this GPU or this harness cannot be believed.
Result<Reference> MakeReference(Gpu& gpu, HarnessKernels& harness, const Gemm& gemm, const GuardedMatrix& a,
                                const GuardedMatrix& b, InputKind kind = InputKind::kNormal);

// Error bounds that an honest kernel meets on inputs of order one.
struct ErrorBounds {
  double accumulated = 0;  // of a single element, whatever it comes to
  double rounded = 0;      // and this share of what it comes to
  double relative = 0;     // Frobenius norm of the error over that of the reference
};
ErrorBounds BoundsFor(const Gemm& gemm, double largest_reference, double reference_norm);
// The maker of an output. Libraries may add the partial sums of a split K in the output type; candidates may not. So
// libraries have wider bounds, and each element has the bound of the largest.
enum class Maker { kCandidate, kLibrary };
inline constexpr double kLeniency = 4;  // towards libraries
// The relative bound for inputs of this kind.
double RelativeBound(InputKind kind, const Gemm& gemm, double largest_reference, double reference_norm,
                     Maker maker = Maker::kCandidate);
// How elements are accepted on inputs of this kind.
Acceptance AcceptanceOf(InputKind kind, const Gemm& gemm, double largest_reference, Maker maker = Maker::kCandidate);
// Half a unit in the last place of the output type at this value.
double HalfUlp(ScalarType type, double value);

}  // namespace gemmsmith
