// The reference that everything else is judged by: every element of it, at every edge, in every layout.
#include "evaluate/verify/reference.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <vector>

#include "base/random.h"
#include "evaluate/gpu_test_compiler.h"

namespace gemmsmith {
namespace {

using u64 = uint64_t;
using i64 = int64_t;
#include "harness/input_values.cuh"

#define ASSERT_DONE(expression) ASSERT_TRUE((expression).ok())

class ReferenceGpuTest : public testing::Test {
 protected:
  void SetUp() override {
    Result<std::unique_ptr<Gpu>> gpu = Gpu::Open(0);
    if (!gpu.ok()) GTEST_SKIP() << gpu.status().message();
    gpu_ = *std::move(gpu);
    const Result<std::unique_ptr<Compiler>> compiler = MakeCompilerHere();
    ASSERT_DONE(compiler);
    Result<std::unique_ptr<HarnessKernels>> harness = HarnessKernels::Load(*gpu_, **compiler);
    ASSERT_DONE(harness);
    harness_ = *std::move(harness);
  }

  Result<GuardedMatrix> MakeOperand(const Gemm& gemm, char name, InputKind kind = InputKind::kNormal) {
    const bool is_a = name == 'A';
    const Order order = is_a ? gemm.kind.layout.a : gemm.kind.layout.b;
    ASSIGN_OR_RETURN(GuardedMatrix matrix,
                     GuardedMatrix::Create(*gpu_, MakeTask(gemm).inputs[is_a ? 0 : 1], order == Order::kRow));
    RETURN_IF_ERROR(FillOperand(*harness_, matrix, name, kind, gemm, 1));
    return matrix;
  }
  // Row-major.
  Result<std::vector<float>> Fetch(const MatrixView& view, int64_t rows, int64_t columns) {
    std::vector<float> values(size_t(rows * columns));
    ASSIGN_OR_RETURN(const DeviceMemory packed, gpu_->Allocate(values.size() * sizeof(float)));
    RETURN_IF_ERROR(harness_->Gather(view, packed.as<float>(), rows, columns, 1, 1));
    RETURN_IF_ERROR(gpu_->Synchronize());
    RETURN_IF_ERROR(
        gpu_->CopyToHost({reinterpret_cast<uint8_t*>(values.data()), values.size() * sizeof(float)}, packed.address()));
    return values;
  }

  std::unique_ptr<Gpu> gpu_;
  std::unique_ptr<HarnessKernels> harness_;
};

TEST_F(ReferenceGpuTest, EveryElementIsTheF64SumAtEveryEdgeAndInEveryLayout) {
  for (const Shape& shape : {Shape{1, 1, 1}, {64, 128, 16}, {65, 129, 17}, {130, 257, 100}, {3, 300, 33}, {200, 5, 48}})
    for (const Order a_order : {Order::kRow, Order::kColumn})
      for (const Order b_order : {Order::kRow, Order::kColumn})
        for (const ScalarType type : {ScalarType::kF16, ScalarType::kBf16}) {
          const auto [m, n, k] = shape;
          Gemm gemm{shape, {{a_order, b_order}, type}};
          gemm.lda = (a_order == Order::kRow ? k : m) + 3;
          SCOPED_TRACE(Print(gemm));
          const Result<GuardedMatrix> a = MakeOperand(gemm, 'A'), b = MakeOperand(gemm, 'B');
          ASSERT_TRUE(a.ok() && b.ok());
          const Result<Reference> reference = MakeReference(*gpu_, *harness_, gemm, *a, *b);
          ASSERT_TRUE(reference.ok()) << reference.status().message();
          const MatrixView product{reference->product.as<void>(), m, n, n, 1, ElementType::kF32};
          const Result<std::vector<float>> x = Fetch(a->view(), m, k), y = Fetch(b->view(), k, n),
                                           got = Fetch(product, m, n);
          ASSERT_TRUE(x.ok() && y.ok() && got.ok());
          for (int row = 0; row < m; ++row)
            for (int column = 0; column < n; ++column) {
              double sum = 0;
              for (int i = 0; i < k; ++i)
                sum += double((*x)[size_t(row * k + i)]) * double((*y)[size_t(i * n + column)]);
              // The order of the sums may move the last bit of an f32.
              EXPECT_NEAR((*got)[size_t(row * n + column)], sum, 1e-7 * std::abs(sum) + 1e-12) << row << " " << column;
            }
        }
}

// NaN is equal to NaN here.
void ExpectEqual(const std::vector<float>& got, const std::vector<float>& expected) {
  ASSERT_EQ(got.size(), expected.size());
  for (size_t i = 0; i < got.size(); ++i)
    ASSERT_TRUE(got[i] == expected[i] || (std::isnan(got[i]) && std::isnan(expected[i])))
        << i << ": got " << got[i] << ", expected " << expected[i];
}

// The patterns on the GPU are those that the models on the CPU are tested with.
TEST_F(ReferenceGpuTest, PatternedInputsAreTheSameOnBothSides) {
  const auto seed_of = [](char name, InputKind kind) {
    return Random(1).Fork(fmt::format("{} {}", name, int(kind))).Next();
  };
  for (const ScalarType type : {ScalarType::kF16, ScalarType::kBf16})
    for (const Layout& layout : {kTn, kNn}) {
      const Gemm gemm{{40, 24, 200}, {layout, type}};
      const auto [m, n, k] = gemm.shape;
      SCOPED_TRACE(Print(gemm));
      for (const InputKind kind : {InputKind::kCancellation, InputKind::kSpecial}) {
        const bool is_special = kind == InputKind::kSpecial;
        const u64 seed_a = seed_of('A', kind), seed_b = seed_of('B', kind);
        std::vector<float> a_expected, b_expected;
        for (int row = 0; row < m; ++row)
          for (int i = 0; i < k; ++i)
            a_expected.push_back(is_special ? SpecialA(seed_a, row, i, k, seed_b, type == ScalarType::kBf16)
                                            : CancellingA(seed_a, row, i, k));
        for (int i = 0; i < k; ++i)
          for (int column = 0; column < n; ++column)
            b_expected.push_back(is_special ? SpecialB(seed_b, i, column, k, type == ScalarType::kBf16)
                                            : CancellingB(seed_b, column));
        const Result<GuardedMatrix> a = MakeOperand(gemm, 'A', kind), b = MakeOperand(gemm, 'B', kind);
        ASSERT_TRUE(a.ok() && b.ok());
        const Result<std::vector<float>> x = Fetch(a->view(), m, k), y = Fetch(b->view(), k, n);
        ASSERT_TRUE(x.ok() && y.ok());
        ExpectEqual(*x, a_expected);
        ExpectEqual(*y, b_expected);
        const Result<Reference> reference = MakeReference(*gpu_, *harness_, gemm, *a, *b, kind);
        EXPECT_TRUE(reference.ok()) << reference.status().message();
      }
    }
}

TEST_F(ReferenceGpuTest, ReportsItsRate) {
  const Gemm gemm{{4096, 1024, 8192}, {kTn}};
  const auto [m, n, k] = gemm.shape;
  for (const Layout& layout : {kTn, kNn}) {
    Gemm stored = gemm;
    stored.kind.layout = layout;
    const Result<GuardedMatrix> a = MakeOperand(stored, 'A'), b = MakeOperand(stored, 'B');
    const Result<DeviceMemory> c = gpu_->Allocate(uint64_t(m) * n * sizeof(float));
    ASSERT_TRUE(a.ok() && b.ok() && c.ok());
    const auto multiply = [&] {
      ASSERT_DONE(harness_->Multiply(a->view(), b->view(), c->as<float>(), m, n, k));
      ASSERT_DONE(gpu_->Synchronize());
    };
    multiply();
    const auto start = std::chrono::steady_clock::now();
    multiply();
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    fmt::print("reference, {}: {:.1f} TFLOP/s\n", Name(layout), 2.0 * m * n * k / seconds / 1e12);
  }
}

}  // namespace
}  // namespace gemmsmith
