#include "evaluate/verify/certification.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/all_cores.h"
#include "evaluate/verify/cpu_product.h"

namespace gemmsmith {

namespace {

struct Block {
  int64_t row, column, rows, columns;
};

// Of about a GFLOP or more where the product has that much; with K = 16,384 the host holds 400 MB.
constexpr int64_t kBlockSide = 2048;

Status ForEachBlock(const Shape& shape, const BlockListener& on_block, const std::function<Status(const Block&)>& use) {
  for (int64_t column = 0; column < shape.n; column += kBlockSide)
    for (int64_t row = 0; row < shape.m; row += kBlockSide) {
      on_block();
      RETURN_IF_ERROR(use({row, column, std::min<int64_t>(kBlockSide, shape.m - row),
                           std::min<int64_t>(kBlockSide, shape.n - column)}));
    }
  return OkStatus();
}

Result<std::vector<float>> Fetch(Gpu& gpu, HarnessKernels& harness, const MatrixView& from, const Block& block) {
  MatrixView part = from;
  const int64_t offset =
      from.lines_are_rows != 0 ? block.row * from.stride + block.column : block.column * from.stride + block.row;
  part.data = static_cast<char*>(from.data) + offset * (from.type == ElementType::kF32 ? 4 : 2);
  std::vector<float> values(size_t(block.rows * block.columns));
  ASSIGN_OR_RETURN(const DeviceMemory packed, gpu.Allocate(values.size() * sizeof(float)));
  RETURN_IF_ERROR(harness.Gather(part, packed.as<float>(), block.rows, block.columns, 1, 1));
  RETURN_IF_ERROR(
      gpu.CopyToHost({reinterpret_cast<uint8_t*>(values.data()), values.size() * sizeof(float)}, packed.address()));
  return values;
}

MatrixView ViewOf(const Reference& reference, const Shape& shape) {
  return {reference.product.as<void>(), shape.m, shape.n, shape.n, 1, ElementType::kF32};
}

Status StoreBlock(Gpu& gpu, const Reference& reference, const Shape& shape, const Block& block,
                  const std::vector<float>& values) {
  for (int64_t row = 0; row < block.rows; ++row) {
    const auto* const line = reinterpret_cast<const uint8_t*>(values.data() + row * block.columns);
    const int64_t to = (block.row + row) * shape.n + block.column;
    RETURN_IF_ERROR(gpu.CopyToDevice(reference.product.address() + uint64_t(to) * sizeof(float),
                                     {line, size_t(block.columns) * sizeof(float)}));
  }
  return OkStatus();
}

// A core's share of a block at a time.
constexpr int64_t kComparedTogether = 1 << 17;

CpuComparison CompareRows(std::span<const float> got, std::span<const float> expected, int64_t columns, int64_t row,
                          int64_t column, const Acceptance& acceptance) {
  CpuComparison comparison;
  for (size_t i = 0; i < got.size(); ++i) {
    const double error = std::abs(double(got[i]) - double(expected[i]));
    const bool is_number = error == error;
    comparison.max_abs_error =
        std::max(comparison.max_abs_error, is_number ? error : std::numeric_limits<double>::infinity());
    if (error <= acceptance.At(expected[i])) continue;
    if (comparison.failures++ > 0) continue;
    comparison.row = row + int64_t(i) / columns, comparison.column = column + int64_t(i) % columns;
    comparison.got = got[i], comparison.expected = expected[i];
  }
  return comparison;
}

}  // namespace

void Compare(std::span<const float> got, std::span<const float> expected, int64_t columns, int64_t row, int64_t column,
             const Acceptance& acceptance, CpuComparison& comparison) {
  GEMMSMITH_CHECK(columns > 0 && int64_t(got.size()) % columns == 0 && got.size() == expected.size(),
                  "{} and {} elements in lines of {}", got.size(), expected.size(), columns);
  const auto rows = int64_t(got.size()) / columns;
  const int64_t rows_together = std::max<int64_t>(1, kComparedTogether / columns);
  std::vector<CpuComparison> parts(size_t((rows + rows_together - 1) / rows_together));
  const auto compare = [&](size_t part) {
    const int64_t first = int64_t(part) * rows_together, count = std::min(rows_together, rows - first);
    const size_t begin = size_t(first * columns), size = size_t(count * columns);
    parts[part] =
        CompareRows(got.subspan(begin, size), expected.subspan(begin, size), columns, row + first, column, acceptance);
  };
  if (parts.size() == 1)
    compare(0);
  else
    ForEachOnAllCores(parts.size(), compare);
  for (const CpuComparison& part : parts) comparison.Add(part);
}

void CpuComparison::Add(const CpuComparison& later) {
  max_abs_error = std::max(max_abs_error, later.max_abs_error);
  if (failures == 0) row = later.row, column = later.column, got = later.got, expected = later.expected;
  failures += later.failures;
}

std::string CpuComparison::Describe(const Shape& shape) const {
  return fmt::format("{} of {} elements are wrong by the CPU's product, one at [{}, {}]: got {}, expected {}", failures,
                     uint64_t(shape.m) * uint64_t(shape.n), row, column, got, expected);
}

Result<Reference> MakeReferenceOnCpu(Gpu& gpu, HarnessKernels& harness, const Gemm& gemm, const GuardedMatrix& a,
                                     const GuardedMatrix& b, InputKind kind, const BlockListener& on_block) {
  on_block();
  ASSIGN_OR_RETURN(Reference reference, MakeReference(gpu, harness, gemm, a, b, kind));
  const Shape& shape = gemm.shape;
  const auto rounding = float(CpuRounding(kind, shape.k));
  std::vector<float> b_block;
  RETURN_IF_ERROR(ForEachBlock(shape, on_block, [&](const Block& block) -> Status {
    ASSIGN_OR_RETURN(const auto a_block, Fetch(gpu, harness, a.view(), {block.row, 0, block.rows, shape.k}));
    if (block.row == 0) {
      ASSIGN_OR_RETURN(b_block, Fetch(gpu, harness, b.view(), {0, block.column, shape.k, block.columns}));
    }
    std::vector<float> product(size_t(block.rows * block.columns));
    CpuProduct(CoreCount(), int(block.rows), int(block.columns), shape.k, a_block.data(), b_block.data(),
               product.data());
    ASSIGN_OR_RETURN(const auto of_gpu, Fetch(gpu, harness, ViewOf(reference, shape), block));
    CpuComparison comparison;
    Compare(of_gpu, product, block.columns, block.row, block.column, {.fixed = rounding}, comparison);
    if (comparison.failures > 0)
      return IoError(fmt::format("the GPU's f64 reference of {}: {}", Print(gemm), comparison.Describe(shape)));
    return StoreBlock(gpu, reference, shape, block, product);
  }));
  return reference;
}

Result<CpuComparison> CompareOnCpu(Gpu& gpu, HarnessKernels& harness, const Shape& shape, const GuardedMatrix& output,
                                   const Reference& reference, const Acceptance& acceptance,
                                   const BlockListener& on_block) {
  CpuComparison comparison;
  RETURN_IF_ERROR(ForEachBlock(shape, on_block, [&](const Block& block) -> Status {
    ASSIGN_OR_RETURN(const auto got, Fetch(gpu, harness, output.view(), block));
    ASSIGN_OR_RETURN(const auto expected, Fetch(gpu, harness, ViewOf(reference, shape), block));
    Compare(got, expected, block.columns, block.row, block.column, acceptance, comparison);
    return OkStatus();
  }));
  return comparison;
}

}  // namespace gemmsmith
