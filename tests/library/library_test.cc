// libgemmsmith.so as programs use it, with a pretended driver and a pretended cuBLASLt that multiply on the CPU.
#include "gemmsmith/gemmsmith.h"

#include <cuda.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdlib>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "base/files.h"
#include "base/hash.h"
#include "catalogue/kernel_file.h"
#include "fake/driver.h"
#include "fake/kernels.h"
#include "fake/numbers.h"
#include "program/emit.h"
#include "program/family.h"
#include "program/space.h"

extern "C" void* __libc_malloc(size_t bytes);
namespace {
std::atomic<int64_t> allocations = 0;
}
// Counts those of the library too. The sanitizers have a malloc of their own.
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
extern "C" void* malloc(size_t bytes) {
  allocations.fetch_add(1, std::memory_order_relaxed);
  return __libc_malloc(bytes);
}
#endif

namespace gemmsmith {
namespace {

class Numbers {
 public:
  Numbers(int type, int64_t count, uint64_t seed, int64_t shift_bytes = 0)
      : type_(type), count_(count), bytes_(size_t(count) * 4 + 64), shift_(shift_bytes) {
    std::mt19937_64 random(seed);
    for (int64_t i = 0; i < count; ++i) FakeWrite(data(), type, i, float(int(random() % 17) - 8) / 8);
  }
  void* data() {
    const auto address = reinterpret_cast<uintptr_t>(bytes_.data());
    return reinterpret_cast<void*>((address + 15) / 16 * 16 + uintptr_t(shift_));
  }
  float At(int64_t index) { return FakeRead(data(), type_, index); }
  int64_t count() const { return count_; }

 private:
  int type_;
  int64_t count_;
  std::vector<char> bytes_;
  int64_t shift_;
};

struct Case {
  gemmsmith_problem problem;
  float alpha = 1, beta = 0;
  int64_t shift_bytes = 0;  // of the pointers from 16 bytes
};

Case SomeCase(int64_t m, int64_t n, int64_t k) {
  Case one;
  gemmsmith_problem_default(&one.problem);
  one.problem.m = m, one.problem.n = n, one.problem.k = k;
  return one;
}

int64_t Place(gemmsmith_order order, int64_t leading, int64_t row, int64_t column) {
  return order == GEMMSMITH_ROW ? row * leading + column : column * leading + row;
}

float ActivatedValue(gemmsmith_activation activation, float x) {
  if (activation == GEMMSMITH_RELU) return std::max(x, 0.0f);
  if (activation == GEMMSMITH_GELU) return 0.5f * x * (1 + std::tanh(0.7978845608f * (x + 0.044715f * x * x * x)));
  return x;
}

class Library : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(setenv("GEMMSMITH_KERNELS", folder_.path().c_str(), 1), 0);
    ASSERT_EQ(setenv("XDG_CONFIG_HOME", folder_.path().c_str(), 1), 0);
    CUcontext context = nullptr;
    cuDevicePrimaryCtxRetain(&context, 0);
    cuCtxSetCurrent(context);
  }
  void TearDown() override {
    gemmsmith_context_destroy(context_);
    EXPECT_EQ(FakeModules(), 0) << "all are unloaded with their context";
  }
  gemmsmith_context* Open(const KernelFile& file = KernelFile("h200")) {
    overlay_ = folder_.path() / "mine.kernels";
    EXPECT_TRUE(WriteFileAtomic(overlay_, file.Print()).ok());
    EXPECT_EQ(gemmsmith_context_create(&context_, overlay_.c_str()), GEMMSMITH_OK) << gemmsmith_last_error();
    return context_;
  }
  std::string Explain(gemmsmith_problem problem) {
    gemmsmith_product* product = nullptr;
    EXPECT_EQ(gemmsmith_prepare(context_, &problem, 0, &product), GEMMSMITH_OK) << gemmsmith_last_error();
    size_t bytes = 0;
    EXPECT_EQ(gemmsmith_explain(product, nullptr, &bytes), GEMMSMITH_OK);
    std::string text(bytes, 'x');
    EXPECT_EQ(gemmsmith_explain(product, text.data(), &bytes), GEMMSMITH_OK);
    gemmsmith_release(product);
    EXPECT_EQ(text.back(), '\0');
    text.pop_back();
    return text;
  }
  // Calls it once and compares every element, by rows and columns as the problem names them.
  gemmsmith_status Multiply(Case one, uint64_t seed = 1);

  TemporaryFolder folder_ = *TemporaryFolder::Create("gemmsmith-library");
  std::filesystem::path overlay_;
  gemmsmith_context* context_ = nullptr;
};

gemmsmith_status Library::Multiply(Case one, uint64_t seed) {
  gemmsmith_problem& p = one.problem;
  const auto leading = [](int64_t given, gemmsmith_order order, int64_t rows, int64_t columns) {
    return given != 0 ? given : order == GEMMSMITH_ROW ? columns : rows;
  };
  const int64_t lda = leading(p.lda, p.a_order, p.m, p.k), ldb = leading(p.ldb, p.b_order, p.k, p.n),
                ldc = leading(p.ldc, p.d_order, p.m, p.n), ldd = leading(p.ldd, p.d_order, p.m, p.n);
  const auto lines = [](gemmsmith_order order, int64_t rows, int64_t columns) {
    return order == GEMMSMITH_ROW ? rows : columns;
  };
  const int64_t a_size = lda * lines(p.a_order, p.m, p.k), b_size = ldb * lines(p.b_order, p.k, p.n),
                c_size = ldc * lines(p.d_order, p.m, p.n), d_size = ldd * lines(p.d_order, p.m, p.n);
  if (p.batch > 1) p.a_step = a_size, p.b_step = 0, p.c_step = c_size, p.d_step = d_size;
  const int in = p.ab_type == GEMMSMITH_F16 ? kFakeF16 : kFakeBf16;
  const int out = p.cd_type == GEMMSMITH_F32 ? kFakeF32 : in;
  Numbers a(in, a_size * p.batch, seed, one.shift_bytes), b(in, b_size, seed + 1, one.shift_bytes),
      c(out, c_size * p.batch, seed + 2, one.shift_bytes), d(out, d_size * p.batch, seed + 3, one.shift_bytes),
      before(out, d_size * p.batch, seed + 3), bias(out, std::max(p.m, p.n), seed + 4);
  gemmsmith_operands operands;
  gemmsmith_operands_default(&operands);
  operands.a = a.data(), operands.b = b.data(), operands.d = d.data();
  operands.c = one.beta == 0 ? nullptr : c.data();
  operands.bias = p.has_bias ? bias.data() : nullptr;
  operands.alpha = one.alpha, operands.beta = one.beta;
  const gemmsmith_status status = gemmsmith_multiply(context_, &p, &operands, nullptr);
  if (status != GEMMSMITH_OK) return status;
  std::vector<char> is_result(size_t(d.count()));
  for (int64_t batch = 0; batch < p.batch; ++batch)
    for (int64_t i = 0; i < p.m; ++i)
      for (int64_t j = 0; j < p.n; ++j) {
        float sum = 0;
        for (int64_t k = 0; k < p.k; ++k)
          sum += a.At(batch * p.a_step + Place(p.a_order, lda, i, k)) * b.At(Place(p.b_order, ldb, k, j));
        sum *= one.alpha;
        if (one.beta != 0) sum += one.beta * c.At(batch * p.c_step + Place(p.d_order, ldc, i, j));
        if (p.has_bias) sum += bias.At(p.d_order == GEMMSMITH_ROW ? j : i);
        const int64_t at = batch * p.d_step + Place(p.d_order, ldd, i, j);
        is_result[size_t(at)] = 1;
        const float expected = ActivatedValue(p.activation, sum);
        EXPECT_NEAR(d.At(at), expected, 0.02f * (1 + std::abs(expected))) << i << "," << j << " of batch " << batch;
        if (HasFailure()) return status;
      }
  for (int64_t at = 0; at < d.count(); ++at)
    EXPECT_TRUE(is_result[size_t(at)] || d.At(at) == before.At(at)) << "between the lines of d";
  return status;
}

TEST_F(Library, AProblemWithAnEntryGetsItsKernel) {
  const Gemm gemm{.shape = {64, 128, 256}, .kind = {.layout = kTn}};
  KernelFile file("h200");
  AddEntry(gemm, PlanFor(gemm), 1.25, file);
  Open(file);
  Case one = SomeCase(64, 128, 256);
  one.problem.b_order = GEMMSMITH_COLUMN;
  const int64_t launches = FakeLaunches();
  EXPECT_EQ(Multiply(one), GEMMSMITH_OK) << gemmsmith_last_error();
  EXPECT_EQ(FakeLaunches(), launches + 1);
  const std::string text = Explain(one.problem);
  EXPECT_NE(text.find("gemm 64x128x256 tn f16 f32"), std::string::npos) << text;
  EXPECT_NE(text.find("made and measured for this problem"), std::string::npos) << text;
  EXPECT_NE(text.find("5.00 us, cuBLASLt 6.25 us"), std::string::npos) << text;
}

TEST_F(Library, AnEntryThatIsBehindIsLeftToCublasLt) {
  const Gemm gemm{.shape = {64, 128, 256}, .kind = {.layout = kTn}};
  KernelFile file("h200");
  AddEntry(gemm, PlanFor(gemm), 0.95, file);
  Open(file);
  Case one = SomeCase(64, 128, 256);
  one.problem.b_order = GEMMSMITH_COLUMN;
  const int64_t launches = FakeLaunches();
  EXPECT_EQ(Multiply(one), GEMMSMITH_OK) << gemmsmith_last_error();
  EXPECT_EQ(FakeLaunches(), launches);
  EXPECT_NE(Explain(one.problem).find("cuBLASLt: expected to be faster (ours 5.00 us, cuBLASLt 4.75 us)"),
            std::string::npos)
      << Explain(one.problem);
}

TEST_F(Library, FewerRowsAreServedByTheEntryOfTheNextLargerNumber) {
  KernelFile file("h200");
  for (const int m : {8, 32}) {
    const Gemm gemm{.shape = {m, 128, 256}, .kind = {.layout = kTn}};
    AddEntry(gemm, PlanFor(gemm), 2, file);
  }
  Open(file);
  const std::pair<int, const char*> asked[] = {{3, "measured for 8 rows"}, {20, "measured for 32 rows"}};
  for (const auto& [m, words] : asked) {
    Case one = SomeCase(m, 128, 256);
    one.problem.b_order = GEMMSMITH_COLUMN;
    EXPECT_EQ(Multiply(one), GEMMSMITH_OK) << gemmsmith_last_error();
    EXPECT_NE(Explain(one.problem).find(words), std::string::npos) << Explain(one.problem);
  }
}

TEST_F(Library, AKernelWithoutDimensionsOfItsOwnServesOtherShapes) {
  const Gemm gemm{.shape = {64, 128, 256}, .kind = {.layout = kTn}};
  KernelFile file("h200");
  AddEntry(gemm, PlanFor(gemm), 2, file);
  Open(file);
  Case one = SomeCase(64, 128, 512);
  one.problem.b_order = GEMMSMITH_COLUMN;
  const int64_t launches = FakeLaunches();
  EXPECT_EQ(Multiply(one), GEMMSMITH_OK) << gemmsmith_last_error();
  EXPECT_EQ(FakeLaunches(), launches + 1);
  EXPECT_NE(Explain(one.problem).find("predicted from gemm 64x128x256"), std::string::npos) << Explain(one.problem);
}

// All of K stays in shared memory.
TEST_F(Library, AKernelHasTheSharedMemoryThatEachOfItsProblemsNeeds) {
  KernelFile file("h200");
  const Plan plan = *ParsePlan("wgmma tile_m=128 tile_n=64 stages=resident store=tma");
  uint32_t kernel = 0;
  Hash128 text;
  for (const int k : {64, 256}) {
    const Gemm gemm{.shape = {128, 64, k}, .kind = {.layout = kTn}};
    if (k == 64) {
      text = HashBytes(Emit(plan, gemm).text);
      const std::string code = "fake tn f16 maps=" + std::to_string(LaunchFor(plan, gemm).maps.size());
      kernel = file.Add("gemm", text, code + '\0');
    }
    ASSERT_EQ(HashBytes(Emit(plan, gemm).text), text);
    file.Assign(gemm, plan, {.kernel = kernel, .time_ns = 5000, .speed_up = 2});
  }
  Open(file);
  const int64_t launches = FakeLaunches();
  for (const int k : {64, 256}) {
    Case one = SomeCase(128, 64, k);
    one.problem.b_order = GEMMSMITH_COLUMN;
    EXPECT_EQ(Multiply(one), GEMMSMITH_OK) << gemmsmith_last_error();
  }
  EXPECT_EQ(FakeLaunches(), launches + 2);
}

// Machine code for wide copies must not meet lines that they do not fit.
TEST_F(Library, AKernelIsNotGivenLinesThatItsTextIsNotFor) {
  const Gemm gemm{.shape = {64, 128, 256}, .kind = {.layout = kTn}};
  KernelFile file("h200");
  AddEntry(gemm, PlanFor(gemm), 2, file);
  Open(file);
  Case one = SomeCase(64, 128, 255);
  one.problem.b_order = GEMMSMITH_COLUMN;
  const int64_t launches = FakeLaunches();
  EXPECT_EQ(Multiply(one), GEMMSMITH_OK) << gemmsmith_last_error();
  EXPECT_EQ(FakeLaunches(), launches);
}

TEST_F(Library, APromisedConstantBChains) {
  const Gemm gemm{.shape = {64, 128, 256}, .kind = {.layout = kTn, .constant_b = true}};
  KernelFile file("h200");
  AddEntry(gemm, PlanFor(gemm, true), 2, file);
  Open(file);
  Case one = SomeCase(64, 128, 256);
  one.problem.b_order = GEMMSMITH_COLUMN;
  one.problem.constant_b = 1;
  const int64_t chained = FakeChainedLaunches();
  EXPECT_EQ(Multiply(one), GEMMSMITH_OK) << gemmsmith_last_error();
  EXPECT_EQ(FakeChainedLaunches(), chained + 1);
}

TEST_F(Library, WhereCublasLtIsLeftOutACallIsOursOrNotSupported) {
  const Gemm ahead{.shape = {64, 128, 256}, .kind = {.layout = kTn}},
      behind{.shape = {64, 128, 512}, .kind = {.layout = kTn}};
  KernelFile file("h200");
  AddEntry(ahead, PlanFor(ahead), 1.25, file);
  AddEntry(behind, WithFixed(PlanFor(behind), FixedDimensions::kAll), 0.95, file);
  Open(file);
  Case one = SomeCase(64, 128, 256);
  one.problem.b_order = GEMMSMITH_COLUMN;
  one.problem.own_only = 1;
  EXPECT_EQ(Multiply(one), GEMMSMITH_OK) << gemmsmith_last_error();
  const int64_t launches = FakeLaunches();
  Case epilogue = one, slower = one;
  epilogue.problem.has_bias = 1;
  slower.problem.k = 512;
  for (const Case& other : {epilogue, slower}) {
    EXPECT_EQ(Multiply(other), GEMMSMITH_NOT_SUPPORTED);
    EXPECT_EQ(Multiply(other), GEMMSMITH_NOT_SUPPORTED);
  }
  EXPECT_EQ(FakeLaunches(), launches);
  EXPECT_NE(Explain(slower.problem).find("cuBLASLt: expected to be faster"), std::string::npos);
}

TEST_F(Library, AnUnknownProblemIsNotPreparedDuringACapture) {
  const Gemm gemm{.shape = {16, 16, 64}, .kind = {.layout = kTn}};
  KernelFile file("h200");
  AddEntry(gemm, PlanFor(gemm), 2, file);
  Open(file);
  gemmsmith_problem problem = SomeCase(16, 16, 64).problem;
  problem.b_order = GEMMSMITH_COLUMN;
  problem.own_only = 1;
  alignas(16) static char a[4096], b[4096], d[4096];
  gemmsmith_operands operands;
  gemmsmith_operands_default(&operands);
  operands.a = a, operands.b = b, operands.d = d;
  char stream = 0;
  FakeBeginCapture(&stream);
  EXPECT_EQ(gemmsmith_multiply(context_, &problem, &operands, &stream), GEMMSMITH_NOT_SUPPORTED);
  EXPECT_EQ(FakeEndCapture(&stream).size(), 0u);
  EXPECT_EQ(FakeModules(), 0);
  EXPECT_EQ(gemmsmith_multiply(context_, &problem, &operands, nullptr), GEMMSMITH_OK) << gemmsmith_last_error();
  FakeBeginCapture(&stream);
  EXPECT_EQ(gemmsmith_multiply(context_, &problem, &operands, &stream), GEMMSMITH_OK) << gemmsmith_last_error();
  EXPECT_EQ(FakeEndCapture(&stream).size(), 1u);
}

// Orders, types, leading dimensions, alignments, batches, scales and epilogues, drawn at random.
TEST_F(Library, EveryProblemIsRight) {
  KernelFile file("h200");
  for (const Layout& layout : kLayouts)
    for (const int m : {24, 64})
      for (const int n : {24, 64})
        for (const int k : {24, 64}) {
          const Gemm gemm{.shape = {m, n, k}, .kind = {.layout = layout}};
          AddEntry(gemm, PlanFor(gemm), 3, file);
        }
  Open(file);
  ASSERT_EQ(setenv("GEMMSMITH_ALWAYS", "1", 1), 0);
  std::mt19937_64 random(2026);
  const auto draw = [&](int64_t first, int64_t last) { return first + int64_t(random() % uint64_t(last - first + 1)); };
  const int64_t launches = FakeLaunches();
  for (int i = 0; i < 200 && !HasFailure(); ++i) {
    const bool is_even = draw(0, 1) == 1;
    const auto extent = [&] { return is_even ? 8 * draw(1, 12) : draw(1, 70); };
    Case one = SomeCase(extent(), extent(), extent());
    gemmsmith_problem& p = one.problem;
    const bool is_plain = draw(0, 1) == 1;
    for (gemmsmith_order* order : {&p.a_order, &p.b_order, &p.d_order}) *order = gemmsmith_order(draw(0, 1));
    if (draw(0, 3) == 0) p.ab_type = p.cd_type = GEMMSMITH_BF16;
    if (!is_plain) {
      if (draw(0, 2) == 0) p.cd_type = GEMMSMITH_F32;
      p.batch = draw(1, 3);
      p.has_bias = int(draw(0, 1));
      p.activation = gemmsmith_activation(draw(0, 2));
      one.alpha = draw(0, 1) == 1 ? 1.0f : -0.5f;
      one.beta = draw(0, 1) == 1 ? 0.0f : 2.0f;
      one.shift_bytes = 4 * draw(0, 3);
    }
    if (draw(0, 2) == 0) {
      p.lda = std::max(p.m, p.k) + draw(0, 9), p.ldb = std::max(p.k, p.n) + draw(0, 9);
      p.ldc = std::max(p.m, p.n) + draw(0, 9), p.ldd = std::max(p.m, p.n) + draw(0, 9);
    }
    EXPECT_EQ(Multiply(one, uint64_t(i)), GEMMSMITH_OK) << gemmsmith_last_error();
    EXPECT_FALSE(HasFailure()) << "case " << i;
  }
  unsetenv("GEMMSMITH_ALWAYS");
  EXPECT_GT(FakeLaunches() - launches, 5) << "kernels of ours are among them";
}

struct BadProblem {
  const char* why;
  void (*spoil)(gemmsmith_problem&);
  gemmsmith_status status;
  const char* words;
};

TEST_F(Library, WhatIsWrongWithAProblemIsSaidInOneLine) {
  Open();
  const BadProblem cases[] = {
      {"size", [](auto& p) { p.size -= 8; }, GEMMSMITH_INVALID_ARGUMENT, "gemmsmith_problem_default"},
      {"negative", [](auto& p) { p.m = -1; }, GEMMSMITH_INVALID_ARGUMENT, "m = -1"},
      {"huge", [](auto& p) { p.n = INT64_MAX; }, GEMMSMITH_INVALID_ARGUMENT, "n = 9223372036854775807"},
      {"no depth", [](auto& p) { p.k = 0; }, GEMMSMITH_NOT_SUPPORTED, "k = 0"},
      {"short line", [](auto& p) { p.lda = 15; }, GEMMSMITH_INVALID_ARGUMENT, "lda = 15 is shorter"},
      {"negative line", [](auto& p) { p.ldd = -16; }, GEMMSMITH_INVALID_ARGUMENT, "negative"},
      {"overflow", [](auto& p) { p.ldb = INT64_MAX; }, GEMMSMITH_INVALID_ARGUMENT, "2^40"},
      {"overlap", [](auto& p) { p.batch = 2; }, GEMMSMITH_INVALID_ARGUMENT, "overlap"},
      {"overflowing step", [](auto& p) { p.batch = 1 << 30, p.a_step = INT64_MAX / 2, p.d_step = 256; },
       GEMMSMITH_INVALID_ARGUMENT, "2^40"},
      {"type", [](auto& p) { p.ab_type = gemmsmith_type(9); }, GEMMSMITH_INVALID_ARGUMENT, "ab_type"},
      {"mixed", [](auto& p) { p.cd_type = GEMMSMITH_BF16; }, GEMMSMITH_INVALID_ARGUMENT, "cd_type"},
      {"order", [](auto& p) { p.b_order = gemmsmith_order(7); }, GEMMSMITH_INVALID_ARGUMENT, "order"},
      {"activation", [](auto& p) { p.activation = gemmsmith_activation(5); }, GEMMSMITH_INVALID_ARGUMENT, "activation"},
      {"alignment", [](auto& p) { p.pointer_alignment = 12; }, GEMMSMITH_INVALID_ARGUMENT, "power of two"},
  };
  for (const BadProblem& bad : cases) {
    gemmsmith_problem problem = SomeCase(16, 16, 16).problem;
    bad.spoil(problem);
    gemmsmith_product* product = reinterpret_cast<gemmsmith_product*>(1);
    EXPECT_EQ(gemmsmith_prepare(context_, &problem, 0, &product), bad.status) << bad.why;
    EXPECT_EQ(product, nullptr) << bad.why;
    EXPECT_NE(std::string(gemmsmith_last_error()).find(bad.words), std::string::npos)
        << bad.why << ": " << gemmsmith_last_error();
  }
  gemmsmith_problem problem = SomeCase(16, 16, 16).problem;
  gemmsmith_product* product = nullptr;
  EXPECT_EQ(gemmsmith_prepare(context_, &problem, 3, &product), GEMMSMITH_NO_DEVICE);
  EXPECT_EQ(gemmsmith_prepare(context_, nullptr, 0, &product), GEMMSMITH_INVALID_ARGUMENT);
  EXPECT_EQ(gemmsmith_prepare(nullptr, &problem, 0, &product), GEMMSMITH_INVALID_ARGUMENT);
  EXPECT_EQ(gemmsmith_run(nullptr, nullptr, nullptr), GEMMSMITH_INVALID_ARGUMENT);
  EXPECT_EQ(gemmsmith_multiply(context_, nullptr, nullptr, nullptr), GEMMSMITH_INVALID_ARGUMENT);
}

TEST_F(Library, WhatIsWrongWithOperandsIsSaidAndNothingIsLaunched) {
  Open();
  gemmsmith_problem problem = SomeCase(16, 16, 16).problem;
  gemmsmith_product* product = nullptr;
  ASSERT_EQ(gemmsmith_prepare(context_, &problem, 0, &product), GEMMSMITH_OK);
  alignas(16) char matrix[1024] = {};
  gemmsmith_operands good;
  gemmsmith_operands_default(&good);
  good.a = good.b = good.d = matrix;
  const auto status_of = [&](auto&& spoil) {
    gemmsmith_operands operands = good;
    spoil(operands);
    return gemmsmith_run(product, &operands, nullptr);
  };
  EXPECT_EQ(status_of([](auto&) {}), GEMMSMITH_OK);
  EXPECT_EQ(status_of([](auto& o) { o.size = 8; }), GEMMSMITH_INVALID_ARGUMENT);
  EXPECT_EQ(status_of([](auto& o) { o.a = nullptr; }), GEMMSMITH_INVALID_ARGUMENT);
  EXPECT_EQ(status_of([](auto& o) { o.d = nullptr; }), GEMMSMITH_INVALID_ARGUMENT);
  EXPECT_EQ(status_of([](auto& o) { o.alpha = 2; }), GEMMSMITH_INVALID_ARGUMENT);
  EXPECT_EQ(status_of([](auto& o) { o.beta = 1; }), GEMMSMITH_INVALID_ARGUMENT);
  EXPECT_EQ(status_of([&](auto& o) { o.b = matrix + 2; }), GEMMSMITH_INVALID_ARGUMENT);
  EXPECT_NE(std::string(gemmsmith_last_error()).find("16 bytes"), std::string::npos) << gemmsmith_last_error();
  gemmsmith_release(product);
}

TEST_F(Library, APointerBetweenElementsIsRefused) {
  Open();
  alignas(16) char matrix[2048] = {};
  gemmsmith_problem problem = SomeCase(16, 16, 16).problem;
  problem.has_bias = 1;
  gemmsmith_operands good;
  gemmsmith_operands_default(&good);
  good.a = good.b = good.bias = good.d = matrix;
  const auto status_of = [&](auto&& spoil) {
    gemmsmith_operands operands = good;
    spoil(operands);
    const gemmsmith_status status = gemmsmith_multiply(context_, &problem, &operands, nullptr);
    if (status != GEMMSMITH_OK) {
      EXPECT_NE(std::string(gemmsmith_last_error()).find("align"), std::string::npos) << gemmsmith_last_error();
    }
    return status;
  };
  EXPECT_EQ(status_of([](auto&) {}), GEMMSMITH_OK) << gemmsmith_last_error();
  EXPECT_EQ(status_of([&](auto& o) { o.a = matrix + 1; }), GEMMSMITH_INVALID_ARGUMENT);
  EXPECT_EQ(status_of([&](auto& o) { o.bias = matrix + 1; }), GEMMSMITH_INVALID_ARGUMENT);
  problem.cd_type = GEMMSMITH_F32;
  EXPECT_EQ(status_of([&](auto& o) { o.a = matrix + 2; }), GEMMSMITH_OK);
  EXPECT_EQ(status_of([&](auto& o) { o.d = matrix + 2; }), GEMMSMITH_INVALID_ARGUMENT);
  EXPECT_EQ(status_of([&](auto& o) { o.bias = matrix + 2; }), GEMMSMITH_INVALID_ARGUMENT);
  EXPECT_EQ(status_of([&](auto& o) { o.c = matrix + 2, o.beta = 1; }), GEMMSMITH_INVALID_ARGUMENT);
}

TEST_F(Library, NullsAndUnknownNumbersAreHarmless) {
  EXPECT_EQ(gemmsmith_context_create(nullptr, nullptr), GEMMSMITH_INVALID_ARGUMENT);
  gemmsmith_context_destroy(nullptr);
  gemmsmith_release(nullptr);
  gemmsmith_problem_default(nullptr);
  gemmsmith_operands_default(nullptr);
  size_t bytes = 7;
  EXPECT_EQ(gemmsmith_explain(nullptr, nullptr, &bytes), GEMMSMITH_INVALID_ARGUMENT);
  for (const int status : {-1, 0, 3, 9, 10, 1 << 30})
    EXPECT_STRNE(gemmsmith_status_text(gemmsmith_status(status)), "") << status;
  Open();
  const gemmsmith_problem problem = SomeCase(16, 16, 16).problem;
  EXPECT_EQ(gemmsmith_prepare(context_, &problem, 0, nullptr), GEMMSMITH_INVALID_ARGUMENT);
  gemmsmith_product* product = nullptr;
  for (const int device : {-1, 1, 255, 256, INT32_MAX, INT32_MIN})
    EXPECT_EQ(gemmsmith_prepare(context_, &problem, device, &product), GEMMSMITH_NO_DEVICE) << device;
  EXPECT_EQ(product, nullptr);
}

TEST_F(Library, AnExplanationIsCutToItsRoom) {
  Open();
  const gemmsmith_problem problem = SomeCase(16, 16, 16).problem;
  gemmsmith_product* product = nullptr;
  ASSERT_EQ(gemmsmith_prepare(context_, &problem, 0, &product), GEMMSMITH_OK);
  const std::string whole = Explain(problem);
  for (size_t room = 0; room <= whole.size() + 2; ++room) {
    std::string text(whole.size() + 3, '#');
    size_t bytes = room;
    EXPECT_EQ(gemmsmith_explain(product, text.data(), &bytes), GEMMSMITH_OK);
    EXPECT_EQ(bytes, whole.size() + 1);
    const std::string expected = room == 0 ? "" : whole.substr(0, room - 1) + '\0';
    EXPECT_EQ(text, expected + std::string(text.size() - expected.size(), '#')) << room;
  }
  EXPECT_EQ(gemmsmith_explain(product, nullptr, nullptr), GEMMSMITH_INVALID_ARGUMENT);
  gemmsmith_release(product);
}

TEST_F(Library, AProductMayBeReleasedAfterItsContext) {
  const Gemm gemm{.shape = {64, 128, 256}, .kind = {.layout = kTn}};
  KernelFile file("h200");
  AddEntry(gemm, PlanFor(gemm), 2, file);
  Open(file);
  gemmsmith_problem problem = SomeCase(64, 128, 256).problem;
  problem.b_order = GEMMSMITH_COLUMN;
  gemmsmith_product* product = nullptr;
  ASSERT_EQ(gemmsmith_prepare(context_, &problem, 0, &product), GEMMSMITH_OK);
  gemmsmith_context_destroy(std::exchange(context_, nullptr));
  EXPECT_EQ(FakeModules(), 1) << "its kernel is still loaded";
  gemmsmith_release(product);
  EXPECT_EQ(FakeModules(), 0);
}

TEST_F(Library, AnOlderGpuIsServedByCublasLt) {
  ASSERT_EQ(setenv("FAKE_CAPABILITY", "80", 1), 0);
  EXPECT_EQ(gemmsmith_context_create(&context_, nullptr), GEMMSMITH_OK) << gemmsmith_last_error();
  const int64_t launches = FakeLaunches();
  EXPECT_EQ(Multiply(SomeCase(64, 128, 256)), GEMMSMITH_OK) << gemmsmith_last_error();
  EXPECT_EQ(FakeLaunches(), launches);
  unsetenv("FAKE_CAPABILITY");
}

TEST_F(Library, EachGpuHasKernelsOfItsOwn) {
  ASSERT_EQ(setenv("FAKE_GPUS", "2", 1), 0);
  const Gemm gemm{.shape = {64, 128, 256}, .kind = {.layout = kTn}};
  KernelFile file("h200");
  AddEntry(gemm, PlanFor(gemm), 2, file);
  Open(file);
  Case one = SomeCase(64, 128, 256);
  one.problem.b_order = GEMMSMITH_COLUMN;
  for (const int device : {0, 1, 0}) {
    CUcontext primary = nullptr;
    cuDevicePrimaryCtxRetain(&primary, device);
    cuCtxSetCurrent(primary);
    const int64_t launches = FakeLaunches();
    EXPECT_EQ(Multiply(one), GEMMSMITH_OK) << gemmsmith_last_error();
    EXPECT_EQ(FakeLaunches(), launches + 1);
    CUdevice current = -1;
    cuCtxGetDevice(&current);
    EXPECT_EQ(current, device) << "left as it was";
  }
  EXPECT_EQ(FakeModules(), 2);
  unsetenv("FAKE_GPUS");
}

TEST_F(Library, NothingToComputeIsDoneAtOnce) {
  Open();
  for (const auto& [m, n, k] : {std::array{0, 16, 16}, {16, 0, 16}, {0, 0, 0}}) {
    gemmsmith_problem problem = SomeCase(m, n, k).problem;
    gemmsmith_operands operands;
    gemmsmith_operands_default(&operands);
    EXPECT_EQ(gemmsmith_multiply(context_, &problem, &operands, nullptr), GEMMSMITH_OK) << gemmsmith_last_error();
  }
}

TEST_F(Library, AnOverlayThatIsDamagedMissingOrForAnotherGpuIsRefusedByName) {
  gemmsmith_problem problem = SomeCase(16, 16, 16).problem;
  gemmsmith_product* product = nullptr;
  const auto status_with = [&](const std::string& bytes) {
    gemmsmith_context_destroy(std::exchange(context_, nullptr));
    const std::string path = folder_.path() / "overlay.kernels";
    std::filesystem::remove(path);
    if (!bytes.empty()) {
      EXPECT_TRUE(WriteFileAtomic(path, bytes).ok());
    }
    EXPECT_EQ(gemmsmith_context_create(&context_, path.c_str()), GEMMSMITH_OK);
    const gemmsmith_status status = gemmsmith_prepare(context_, &problem, 0, &product);
    if (status != GEMMSMITH_OK) {
      EXPECT_NE(std::string(gemmsmith_last_error()).find(path), std::string::npos) << gemmsmith_last_error();
    }
    return status;
  };
  const std::string good = KernelFile("h200").Print();
  EXPECT_EQ(status_with(good.substr(0, good.size() / 2)), GEMMSMITH_BAD_FILE);
  EXPECT_EQ(status_with(KernelFile("h100").Print()), GEMMSMITH_BAD_FILE);
  EXPECT_EQ(status_with(""), GEMMSMITH_BAD_FILE);
  EXPECT_EQ(status_with(good), GEMMSMITH_OK);
  gemmsmith_release(product);
}

TEST_F(Library, AfterTheFirstCallNothingIsAllocated) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "allocations are not counted under sanitizers";
#endif
  ASSERT_GT(allocations, 0) << "they are counted";
  const Gemm gemm{.shape = {16, 16, 64}, .kind = {.layout = kTn}};
  KernelFile file("h200");
  AddEntry(gemm, PlanFor(gemm), 2, file);
  Open(file);
  alignas(16) static char a[4096], b[4096], d[4096];
  for (const auto& [has_bias, own_only] : {std::pair{0, 0}, {1, 0}, {0, 1}, {1, 1}}) {
    gemmsmith_problem problem = SomeCase(16, 16, 64).problem;
    problem.b_order = GEMMSMITH_COLUMN;
    problem.has_bias = has_bias, problem.own_only = own_only;
    gemmsmith_operands operands;
    gemmsmith_operands_default(&operands);
    operands.a = a, operands.b = b, operands.d = d, operands.bias = a;
    ASSERT_EQ(gemmsmith_multiply(context_, &problem, &operands, nullptr),
              has_bias && own_only ? GEMMSMITH_NOT_SUPPORTED : GEMMSMITH_OK)
        << gemmsmith_last_error();
    const int64_t before = allocations, launches = FakeLaunches();
    for (int i = 0; i < 1000; ++i) gemmsmith_multiply(context_, &problem, &operands, nullptr);
    EXPECT_EQ(allocations, before);
    EXPECT_EQ(FakeLaunches(), has_bias ? launches : launches + 1000);
  }
}

// One of many threads: it multiplies one row by n columns on streams of its own, each time another n.
class Worker {
 public:
  static constexpr int kDepth = 16, kShapes = 300, kStreams = 4, kCalls = 60;
  Worker(gemmsmith_context* context, Numbers& a, Numbers& b, int number)
      : context_(context), a_(a), b_(b), number_(number), d_(kFakeF16, kShapes, 3) {}

  // The count of results and statuses that are wrong.
  int Work() {
    CUcontext primary = nullptr;
    cuDevicePrimaryCtxRetain(&primary, 0);
    cuCtxSetCurrent(primary);
    for (int call = 0; call < kCalls; ++call) {
      Call(call);
      if (call % 10 == 0) RunPrepared(call);
      if (call % 10 == 5) Capture(call);
      if (call % 10 == 7) Fail(call);
    }
    return wrong_;
  }

 private:
  gemmsmith_problem ProblemOf(int call) const {
    gemmsmith_problem problem = SomeCase(1, 1 + (call * 7 + number_ * 13) % kShapes, kDepth).problem;
    problem.b_order = GEMMSMITH_COLUMN;
    return problem;
  }
  gemmsmith_operands Operands() {
    gemmsmith_operands operands;
    gemmsmith_operands_default(&operands);
    operands.a = a_.data(), operands.b = b_.data(), operands.d = d_.data();
    return operands;
  }
  void* StreamOf(int call) const {
    return reinterpret_cast<void*>(uintptr_t(1 + number_ * kStreams + call % kStreams));
  }
  void Expect(bool is_so) { wrong_ += !is_so; }
  void ExpectResults(int64_t n) {
    for (int64_t j = 0; j < n; ++j) {
      float sum = 0;
      for (int k = 0; k < kDepth; ++k) sum += a_.At(k) * b_.At(j * kDepth + k);
      Expect(std::abs(d_.At(j) - sum) <= 0.02f * (1 + std::abs(sum)));
      FakeWrite(d_.data(), kFakeF16, j, 99);
    }
  }
  void Call(int call) {
    const gemmsmith_problem problem = ProblemOf(call);
    const gemmsmith_operands operands = Operands();
    Expect(gemmsmith_multiply(context_, &problem, &operands, StreamOf(call)) == GEMMSMITH_OK);
    ExpectResults(problem.n);
  }
  void RunPrepared(int call) {
    const gemmsmith_problem problem = ProblemOf(call + 3);
    const gemmsmith_operands operands = Operands();
    gemmsmith_product* product = nullptr;
    Expect(gemmsmith_prepare(context_, &problem, 0, &product) == GEMMSMITH_OK);
    Expect(gemmsmith_run(product, &operands, StreamOf(call)) == GEMMSMITH_OK);
    ExpectResults(problem.n);
    size_t bytes = 0;
    Expect(gemmsmith_explain(product, nullptr, &bytes) == GEMMSMITH_OK && bytes > 1);
    gemmsmith_release(product);
  }
  void Capture(int call) {
    const gemmsmith_problem problem = ProblemOf(call);
    const gemmsmith_operands operands = Operands();
    FakeBeginCapture(StreamOf(call));
    Expect(gemmsmith_multiply(context_, &problem, &operands, StreamOf(call)) == GEMMSMITH_OK);
    const FakeGraph graph = FakeEndCapture(StreamOf(call));
    Expect(graph.size() == 1 && d_.At(0) == 99);
    for (const auto& work : graph) work();
    ExpectResults(problem.n);
  }
  void Fail(int call) {
    gemmsmith_problem problem = ProblemOf(call);
    problem.lda = 1 + number_ % (kDepth - 1);
    const gemmsmith_operands operands = Operands();
    Expect(gemmsmith_multiply(context_, &problem, &operands, StreamOf(call)) == GEMMSMITH_INVALID_ARGUMENT);
    const std::string reason = "lda = " + std::to_string(problem.lda) + " ";
    Expect(std::string(gemmsmith_last_error()).find(reason) != std::string::npos);
  }

  gemmsmith_context* const context_;
  Numbers &a_, &b_;
  const int number_;
  Numbers d_;
  int wrong_ = 0;
};

// More shapes than the first table has room for, calls, captures and failures at once.
TEST_F(Library, SixtyFourThreadsWithFourStreamsEachShareAContext) {
  const Gemm gemm{.shape = {16, 16, 16}, .kind = {.layout = kTn}};
  KernelFile file("h200");
  AddEntry(gemm, PlanFor(gemm), 2, file);
  Open(file);
  Numbers a(kFakeF16, Worker::kDepth, 1), b(kFakeF16, Worker::kDepth * Worker::kShapes, 2);
  const int64_t launches = FakeLaunches();
  std::atomic<int> wrong = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < 64; ++t) threads.emplace_back([&, t] { wrong += Worker(context_, a, b, t).Work(); });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
  EXPECT_GT(FakeLaunches(), launches) << "kernels of ours are among them";
}

TEST_F(Library, AnyNumbersAtAllGetADocumentedStatus) {
  Open();
  std::mt19937_64 random(7);
  const int64_t interesting[] = {0, 1, 2, 7, 16, 255, 4096, -1, INT32_MAX, INT64_MAX, INT64_MIN, int64_t{1} << 40};
  const auto any = [&] { return interesting[random() % std::size(interesting)]; };
  constexpr int kProblems = 1'000'000;
  int done = 0;
  for (int i = 0; i < kProblems; ++i) {
    gemmsmith_problem problem = SomeCase(16, 16, 16).problem;
    int64_t* const numbers[] = {&problem.m,      &problem.n,      &problem.k,      &problem.batch,
                                &problem.lda,    &problem.ldb,    &problem.ldc,    &problem.ldd,
                                &problem.a_step, &problem.b_step, &problem.c_step, &problem.d_step};
    for (int64_t* number : numbers)
      if (random() % 4 == 0) *number = any();
    int* const flags[] = {&problem.has_bias, &problem.alpha_is_one, &problem.beta_is_zero, &problem.constant_b};
    for (int* flag : flags) *flag = int(random());
    if (random() % 8 == 0) problem.a_order = gemmsmith_order(random() % 3);
    if (random() % 8 == 0) problem.cd_type = gemmsmith_type(random() % 5);
    if (random() % 8 == 0) problem.pointer_alignment = uint32_t(random() % 300);
    gemmsmith_product* product = nullptr;
    const gemmsmith_status status = gemmsmith_prepare(context_, &problem, 0, &product);
    ASSERT_TRUE(status == GEMMSMITH_OK || status == GEMMSMITH_INVALID_ARGUMENT || status == GEMMSMITH_NOT_SUPPORTED)
        << gemmsmith_last_error();
    ASSERT_EQ(product != nullptr, status == GEMMSMITH_OK);
    done += status == GEMMSMITH_OK;
    gemmsmith_release(product);
  }
  EXPECT_GT(done, 100);
}

}  // namespace
}  // namespace gemmsmith
