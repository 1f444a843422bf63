#include "evaluate/verify/reference.h"

#include <algorithm>
#include <cmath>

#include "base/all_cores.h"
#include "base/random.h"
#include "evaluate/verify/cpu_product.h"

namespace gemmsmith {

namespace {

// Relative rounding error of one conversion to the type.
double UnitRoundoff(ScalarType type) { return type == ScalarType::kF16 ? 0x1p-11 : 0x1p-8; }

struct Sample {
  int64_t rows, columns, row_step, column_step;
};

// At most 16 MiB of B, as f32, come to the host. Special values are multiplied one by one, so there are fewer.
Sample SampleOf(const Shape& shape, InputKind kind) {
  constexpr int64_t kRows = 16, kElements = int64_t{1} << 22;
  const int64_t most_columns = kind == InputKind::kSpecial ? 64 : 1024;
  const int64_t columns = std::clamp<int64_t>(kElements / shape.k, 16, most_columns);
  const auto step = [](int64_t all, int64_t wanted) { return (all + wanted - 1) / wanted | 1; };
  const int64_t row_step = step(shape.m, kRows), column_step = step(shape.n, columns);
  return {(shape.m + row_step - 1) / row_step, (shape.n + column_step - 1) / column_step, row_step, column_step};
}

Result<std::vector<float>> Fetch(Gpu& gpu, HarnessKernels& harness, const MatrixView& from, int64_t rows,
                                 int64_t columns, int64_t row_step, int64_t column_step) {
  std::vector<float> values(size_t(rows * columns));
  ASSIGN_OR_RETURN(const DeviceMemory packed, gpu.Allocate(values.size() * sizeof(float)));
  RETURN_IF_ERROR(harness.Gather(from, packed.as<float>(), rows, columns, row_step, column_step));
  RETURN_IF_ERROR(gpu.Synchronize());
  RETURN_IF_ERROR(
      gpu.CopyToHost({reinterpret_cast<uint8_t*>(values.data()), values.size() * sizeof(float)}, packed.address()));
  return values;
}

bool AreEqual(float got, float expected, double tolerance) {
  if (std::isnan(expected)) return std::isnan(got);
  return got == expected || std::abs(double(got) - double(expected)) <= tolerance;
}

Status CompareWithCpu(Gpu& gpu, HarnessKernels& harness, InputKind kind, const Gemm& gemm, const GuardedMatrix& a,
                      const GuardedMatrix& b, const Reference& reference) {
  const Sample sample = SampleOf(gemm.shape, kind);
  const int64_t k = gemm.shape.k;
  ASSIGN_OR_RETURN(const auto a_rows, Fetch(gpu, harness, a.view(), sample.rows, k, sample.row_step, 1));
  ASSIGN_OR_RETURN(const auto b_columns, Fetch(gpu, harness, b.view(), k, sample.columns, 1, sample.column_step));
  ASSIGN_OR_RETURN(const auto got, Fetch(gpu, harness, ViewOf(reference, gemm.shape), sample.rows, sample.columns,
                                         sample.row_step, sample.column_step));
  std::vector<float> expected(got.size());
  const int rows = int(sample.rows), columns = int(sample.columns), depth = int(k);
  if (kind == InputKind::kSpecial)
    CpuProductOneByOne(rows, columns, depth, a_rows.data(), b_columns.data(), expected.data());
  else
    CpuProduct(CoreCount(), rows, columns, depth, a_rows.data(), b_columns.data(), expected.data());
  const double tolerance = kind == InputKind::kSpecial ? 0 : CpuRounding(kind, k);
  for (size_t i = 0; i < got.size(); ++i)
    if (!AreEqual(got[i], expected[i], tolerance))
      return IoError(
          fmt::format("the GPU's f64 reference has {} at [{}, {}] of {} where the CPU has {}: neither can be believed",
                      got[i], int64_t(i) / sample.columns * sample.row_step,
                      int64_t(i) % sample.columns * sample.column_step, Print(gemm), expected[i]));
  return OkStatus();
}

}  // namespace

MatrixView ViewOf(const Reference& reference, const Shape& shape) {
  return {reference.product.as<void>(), shape.m, shape.n, shape.n, 1, ElementType::kF32};
}

// About K additions, each off by half an f32 ulp of a sum: of about sqrt(K), or of up to K / 4.
double CpuRounding(InputKind kind, int64_t k) {
  return 0x1p-24 * (64 + (kind == InputKind::kUniform ? 2 * double(k) * std::sqrt(double(k)) : 8.0 * double(k)));
}

// So that sums stay under about 4096, whatever K: f16 ends at 65504.
double LargestUniform(int k) { return std::min(1.0, std::sqrt(16384.0 / k)); }

float ExactBelow(ScalarType type) { return type == ScalarType::kF16 ? 2048 : 256; }

double BinaryDensity(InputKind kind, const GemmKind& gemm_kind, int k) {
  const double limit = ExactBelow(gemm_kind.type);
  // A sum of K products, each 1 with the square of the density, has its mean here. Half the limit is over 6 standard
  // deviations below the limit for both types.
  const double mean = kind == InputKind::kBinary ? limit / 2 : limit;
  return std::min(kind == InputKind::kBinary ? 0.5 : 0.9, std::sqrt(mean / k));
}

Status FillOperand(HarnessKernels& harness, const GuardedMatrix& matrix, char operand, InputKind kind, const Gemm& gemm,
                   uint64_t seed) {
  return FillView(harness, matrix.view(), operand, kind, gemm, seed);
}

Status FillView(HarnessKernels& harness, const MatrixView& view, char operand, InputKind kind, const Gemm& gemm,
                uint64_t seed) {
  const auto seed_for = [&](char name) { return Random(seed).Fork(fmt::format("{} {}", name, int(kind))).Next(); };
  const uint64_t own_seed = seed_for(operand);
  const bool is_a = operand == 'A';
  switch (kind) {
    case InputKind::kNormal:
    case InputKind::kOtherNormal:
      return harness.Fill(view, Filling::kNormal, own_seed);
    case InputKind::kUniform:
      return harness.Fill(view, Filling::kUniform, own_seed, {.parameter = LargestUniform(gemm.shape.k)});
    case InputKind::kBinary:
    case InputKind::kDenseBinary:
      return harness.Fill(view, Filling::kBinary, own_seed,
                          {.parameter = BinaryDensity(kind, gemm.kind, gemm.shape.k)});
    case InputKind::kCancellation:
      return harness.Fill(view, is_a ? Filling::kCancellingA : Filling::kCancellingB, own_seed);
    case InputKind::kSpecial:
      return harness.Fill(view, is_a ? Filling::kSpecialA : Filling::kSpecialB, own_seed, {.seed_of_b = seed_for('B')});
  }
  GEMMSMITH_CHECK(false, "input kind {}", int(kind));
  return OkStatus();
}

namespace {

// The comparison of the reference with itself tells its largest value.
Status FindLargest(HarnessKernels& harness, const Shape& shape, Reference& reference) {
  RETURN_IF_ERROR(harness.ResetReport());
  RETURN_IF_ERROR(harness.Compare(ViewOf(reference, shape), reference.values(), {}));
  ASSIGN_OR_RETURN(const HarnessReport report, harness.ReadReport());
  if (report.differences.failures > 0) return IoError("the GPU's reference holds values that are not numbers");
  reference.largest = report.differences.LargestReference();
  return OkStatus();
}

Result<Reference> Multiply(Gpu& gpu, HarnessKernels& harness, const Shape& shape, const GuardedMatrix& a,
                           const GuardedMatrix& b) {
  const auto [m, n, k] = shape;
  Reference reference;
  ASSIGN_OR_RETURN(reference.product, gpu.Allocate(uint64_t(m) * n * sizeof(float)));
  RETURN_IF_ERROR(harness.Multiply(a.view(), b.view(), reference.product.as<float>(), m, n, k));
  RETURN_IF_ERROR(gpu.Synchronize());
  return reference;
}

}  // namespace

Result<Reference> MultiplyOnGpu(Gpu& gpu, HarnessKernels& harness, const Gemm& gemm, const GuardedMatrix& a,
                                const GuardedMatrix& b) {
  ASSIGN_OR_RETURN(Reference reference, Multiply(gpu, harness, gemm.shape, a, b));
  RETURN_IF_ERROR(FindLargest(harness, gemm.shape, reference));
  return reference;
}

Result<Reference> MakeReference(Gpu& gpu, HarnessKernels& harness, const Gemm& gemm, const GuardedMatrix& a,
                                const GuardedMatrix& b, InputKind kind) {
  ASSIGN_OR_RETURN(Reference reference, Multiply(gpu, harness, gemm.shape, a, b));
  RETURN_IF_ERROR(CompareWithCpu(gpu, harness, kind, gemm, a, b, reference));
  if (kind != InputKind::kSpecial) RETURN_IF_ERROR(FindLargest(harness, gemm.shape, reference));
  return reference;
}

// Sums of uniform numbers lie close together, so that all of them may be rounded by nearly half a unit in the last
// place.
double RelativeBound(InputKind kind, const Gemm& gemm, double largest_reference, double reference_norm, Maker maker) {
  const double bound = BoundsFor(gemm, largest_reference, reference_norm).relative;
  const double own = kind == InputKind::kUniform ? bound + 0.5 * UnitRoundoff(gemm.kind.type) : bound;
  return maker == Maker::kLibrary ? kLeniency * own : own;
}

// Results of special inputs are exact, but denormals of bf16 may be flushed: their products are smaller than any normal
// number.
Acceptance AcceptanceOf(InputKind kind, const Gemm& gemm, double largest_reference, Maker maker) {
  if (kind == InputKind::kSpecial)
    return {.fixed = gemm.kind.type == ScalarType::kBf16 ? 0x1p-126f : 0, .special = true};
  const ErrorBounds bounds = BoundsFor(gemm, largest_reference, 0);
  const float exact_below = IsRounded(kind) ? 0 : ExactBelow(gemm.kind.type);
  if (maker == Maker::kLibrary)
    return {.exact_below = exact_below,
            .fixed = float(kLeniency * (8 * bounds.accumulated + bounds.rounded * largest_reference))};
  const double times = gemm.kind.accumulation == Accumulation::kF16 ? 4 : 1;
  return {.exact_below = exact_below, .fixed = float(times * bounds.accumulated), .share = float(bounds.rounded)};
}

double HalfUlp(ScalarType type, double value) {
  const double smallest_normal = type == ScalarType::kF16 ? 0x1p-14 : 0x1p-126;
  return UnitRoundoff(type) * std::exp2(std::floor(std::log2(std::max(value, smallest_normal))));
}

// Rounding the output once leaves a Frobenius error of about 0.42 u on normal values, and at most u for a single
// element. The most in 45,000 judged trials was 0.435 u (H200, K from 64 to 16,384). A wide accumulator adds, for every
// 16 products, half an f32 ulp of a partial sum of about sqrt(K), with a bias where the hardware truncates. The two
// errors are independent, so their squares add. One more f16 rounding of every product, or of every 16 or 64 of them
// before they are added, makes 0.6 u.
//
// A single element may be off by twice what rounding it once may take, and by what is accumulated. Errors of f16 sums
// scatter more: four times that. The bound of an element follows its own size, not the largest one's. Sums of 16
// products in f16 hide behind the eight bits of a large bf16 element (0.45 of the relative bound). Up to K of about
// 16,384 they do not hide behind those of a small one.
ErrorBounds BoundsFor(const Gemm& gemm, double largest_reference, double reference_norm) {
  const double k = gemm.shape.k, elements = double(gemm.shape.m) * gemm.shape.n;
  const double u = UnitRoundoff(gemm.kind.type);
  const double partial_sum = std::sqrt(k) + largest_reference / 4;
  double relative = u * (0.5 + 1 / std::sqrt(elements));
  double accumulated = partial_sum * 0x1p-24 * (4 * std::sqrt(k) + k / 16 + 4);
  if (gemm.kind.accumulation == Accumulation::kF16) accumulated = partial_sum * 0x1p-11 * (0.5 * std::sqrt(k) + 2);
  if (reference_norm > 0) relative = std::hypot(relative, accumulated * std::sqrt(elements) / reference_norm);
  // Results too small for a normal number round to a fixed step.
  const double smallest_step = gemm.kind.type == ScalarType::kF16 ? 0x1p-24 : 0;
  return {accumulated + smallest_step, 2 * u, relative};
}

}  // namespace gemmsmith
