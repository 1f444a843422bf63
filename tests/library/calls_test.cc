// Results, allocations and threads.
#include "library_fixture.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <thread>

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

TEST_F(Library, NothingToComputeIsDoneAtOnce) {
  Open();
  for (const auto& [m, n, k] : {std::array{0, 16, 16}, {16, 0, 16}, {0, 0, 0}}) {
    gemmsmith_problem problem = SomeCase(m, n, k).problem;
    gemmsmith_operands operands;
    gemmsmith_operands_default(&operands);
    EXPECT_EQ(gemmsmith_multiply(context_, &problem, &operands, nullptr), GEMMSMITH_OK) << gemmsmith_last_error();
  }
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

}  // namespace
}  // namespace gemmsmith
