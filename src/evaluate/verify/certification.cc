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

// About a GFLOP or more where the product has that much; with K = 16,384 the host holds 320 MB.
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

// Elements of a block on the host, in the memory of an earlier block that was as large. New pages for every block took
// longer than comparing its elements.
class BlockValues {
 public:
  Status Resize(Gpu& gpu, const Block& block) {
    const uint64_t bytes = uint64_t(block.rows * block.columns) * sizeof(float);
    if (memory_.bytes().size() < bytes) {
      memory_ = {};
      ASSIGN_OR_RETURN(memory_, gpu.AllocateOnHost(bytes));
    }
    bytes_ = memory_.bytes().first(bytes);
    return OkStatus();
  }
  std::span<uint8_t> bytes() const { return bytes_; }
  float* data() const { return reinterpret_cast<float*>(bytes_.data()); }
  std::span<const float> values() const { return {data(), bytes_.size() / sizeof(float)}; }

 private:
  PageLockedMemory memory_;
  std::span<uint8_t> bytes_;
};

// Between device and host, block by block through the same memory.
class BlockCarrier {
 public:
  BlockCarrier(Gpu& gpu, HarnessKernels& harness) : gpu_(gpu), harness_(harness) {}

  Status Fetch(const MatrixView& from, const Block& block, BlockValues& to) {
    MatrixView part = from;
    const int64_t offset =
        from.lines_are_rows != 0 ? block.row * from.stride + block.column : block.column * from.stride + block.row;
    part.data = static_cast<char*>(from.data) + offset * (from.type == ElementType::kF32 ? 4 : 2);
    RETURN_IF_ERROR(to.Resize(gpu_, block));
    RETURN_IF_ERROR(MakeRoomFor(to));
    RETURN_IF_ERROR(harness_.Gather(part, packed_.as<float>(), block.rows, block.columns, 1, 1));
    return gpu_.CopyToHost(to.bytes(), packed_.address());
  }

  // Into a packed matrix of so many columns; done when it returns.
  Status Store(const BlockValues& from, const Block& block, CUdeviceptr matrix, int64_t columns) {
    RETURN_IF_ERROR(MakeRoomFor(from));
    RETURN_IF_ERROR(gpu_.CopyToDevice(packed_.address(), from.bytes()));
    const uint64_t line_bytes = uint64_t(block.columns) * sizeof(float);
    for (int64_t row = 0; row < block.rows; ++row) {
      const CUdeviceptr to = matrix + uint64_t((block.row + row) * columns + block.column) * sizeof(float);
      RETURN_IF_ERROR(gpu_.Copy(to, packed_.address() + uint64_t(row) * line_bytes, line_bytes));
    }
    return gpu_.Synchronize();
  }

 private:
  Status MakeRoomFor(const BlockValues& values) {
    if (packed_.size_bytes() >= values.bytes().size()) return OkStatus();
    packed_ = {};
    ASSIGN_OR_RETURN(packed_, gpu_.Allocate(values.bytes().size()));
    return OkStatus();
  }

  Gpu& gpu_;
  HarnessKernels& harness_;
  DeviceMemory packed_;
};

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
  BlockCarrier carrier(gpu, harness);
  BlockValues a_block, b_block, product, of_gpu;
  const auto multiply = [&](const Block& block) -> Status {
    RETURN_IF_ERROR(carrier.Fetch(a.view(), {block.row, 0, block.rows, shape.k}, a_block));
    if (block.row == 0) RETURN_IF_ERROR(carrier.Fetch(b.view(), {0, block.column, shape.k, block.columns}, b_block));
    RETURN_IF_ERROR(product.Resize(gpu, block));
    CpuProduct(CoreCount(), int(block.rows), int(block.columns), shape.k, a_block.data(), b_block.data(),
               product.data());
    RETURN_IF_ERROR(carrier.Fetch(ViewOf(reference, shape), block, of_gpu));
    CpuComparison comparison;
    Compare(of_gpu.values(), product.values(), block.columns, block.row, block.column, {.fixed = rounding}, comparison);
    if (comparison.failures > 0)
      return IoError(fmt::format("the GPU's f64 reference of {}: {}", Print(gemm), comparison.Describe(shape)));
    return carrier.Store(product, block, reference.product.address(), shape.n);
  };
  RETURN_IF_ERROR(ForEachBlock(shape, on_block, multiply));
  return reference;
}

Result<CpuComparison> CompareOnCpu(Gpu& gpu, HarnessKernels& harness, const Shape& shape, const GuardedMatrix& output,
                                   const Reference& reference, const Acceptance& acceptance,
                                   const BlockListener& on_block) {
  CpuComparison comparison;
  BlockCarrier carrier(gpu, harness);
  BlockValues got, expected;
  const auto compare = [&](const Block& block) -> Status {
    RETURN_IF_ERROR(carrier.Fetch(output.view(), block, got));
    RETURN_IF_ERROR(carrier.Fetch(ViewOf(reference, shape), block, expected));
    Compare(got.values(), expected.values(), block.columns, block.row, block.column, acceptance, comparison);
    return OkStatus();
  };
  RETURN_IF_ERROR(ForEachBlock(shape, on_block, compare));
  return comparison;
}

}  // namespace gemmsmith
