// The ring on a GPU: honest calls pass whatever the problem, and one call that is not is found and named.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <numeric>

#include "evaluate/gpu_test_fixtures.h"
#include "evaluate/time/ring_clock.h"

namespace gemmsmith {
namespace {

const StepListener kUnheard = [](const Step&) {};

// A plain product in any order, one thread an element, and whatever may be wrong with it.
constexpr std::string_view kProduct = R"(
typedef unsigned short u16;
enum Fault { kNone, kDropsSlice, kModifiesA, kModifiesB, kWritesBehindC };
struct Arguments {
  u16* a; u16* b; u16* c;
  long long m, n, k, a_row, a_k, b_k, b_column, c_row;
  int is_bf16, sums_in_f16, fault;
  long long tile_row, tile_column, first_k;
  unsigned* calls;        // null, or what counts them
  unsigned wrong_call;    // by this count has the fault; every call where nothing counts
};
__device__ float Wide(u16 bits, int is_bf16) {
  if (is_bf16) return __uint_as_float(unsigned(bits) << 16);
  float value;
  asm("cvt.f32.f16 %0, %1;" : "=f"(value) : "h"(bits));
  return value;
}
__device__ u16 Narrow(float value, int is_bf16) {
  u16 bits;
  if (is_bf16) asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(bits) : "f"(value));
  else asm("cvt.rn.f16.f32 %0, %1;" : "=h"(bits) : "f"(value));
  return bits;
}
extern "C" __global__ void product(const Arguments g) {
  const bool is_wrong = g.calls == nullptr || *g.calls == g.wrong_call;
  const int fault = is_wrong ? g.fault : kNone;
  const long long first = blockIdx.x * (long long)blockDim.x + threadIdx.x;
  for (long long i = first; i < g.m * g.n; i += gridDim.x * (long long)blockDim.x) {
    const long long row = i / g.n, column = i % g.n;
    const bool is_in_tile = row / 16 == g.tile_row / 16 && column / 16 == g.tile_column / 16;
    float sum = 0;
    u16 narrow = 0;
    for (long long k = 0; k < g.k; ++k) {
      if (fault == kDropsSlice && is_in_tile && k / 16 == g.first_k / 16) continue;
      const u16 a = g.a[row * g.a_row + k * g.a_k], b = g.b[k * g.b_k + column * g.b_column];
      if (g.sums_in_f16) asm("fma.rn.f16 %0, %1, %2, %0;" : "+h"(narrow) : "h"(a), "h"(b));
      else sum += Wide(a, g.is_bf16) * Wide(b, g.is_bf16);
    }
    g.c[row * g.c_row + column] = g.sums_in_f16 ? narrow : Narrow(sum, g.is_bf16);
  }
  if (first != 0) return;
  if (fault == kModifiesA) g.a[(g.m - 1) * g.a_row + (g.k - 1) * g.a_k] ^= 1;
  if (fault == kModifiesB) g.b[0] ^= 0x8000;
  if (fault == kWritesBehindC) g.c[(g.m - 1) * g.c_row + g.n] = 0;
}
extern "C" __global__ void count(unsigned* calls) { ++*calls; }
)";

enum Fault { kNone, kDropsSlice, kModifiesA, kModifiesB, kWritesBehindC };
struct Arguments {
  const void* a;
  const void* b;
  void* c;
  int64_t m, n, k, a_row, a_k, b_k, b_column, c_row;
  int32_t is_bf16, sums_in_f16, fault = kNone;
  int64_t tile_row = 0, tile_column = 0, first_k = 0;
  CUdeviceptr calls = 0;
  uint32_t wrong_call = 0;
};

class RingGpuTest : public TestWithJudge {
 protected:
  void SetUp() override {
    TestWithJudge::SetUp();
    if (!HasJudge()) return;
    Result<std::unique_ptr<Compiler>> compiler = MakeCompilerHere();
    ASSERT_TRUE(compiler.ok()) << compiler.status().message();
    const Result<Compilation> compilation =
        (*compiler)->Compile({std::string(kProduct), "product"}, judge_->hello().device.Architecture());
    ASSERT_TRUE(compilation.ok() && compilation->succeeded) << (compilation.ok() ? compilation->log : "");
    for (const auto& [kernel, entry] : {std::pair(&product_, "product"), {&count_, "count"}}) {
      Result<Kernel> loaded = gpu().Load(compilation->binary.cubin, entry, 0);
      ASSERT_TRUE(loaded.ok()) << loaded.status().message();
      *kernel = *std::move(loaded);
    }
  }
  void TearDown() override {
    product_ = Kernel();
    count_ = Kernel();
  }

  Gpu& gpu() { return judge_->gpu(); }
  Ring RingOf(const Gemm& gemm) {
    Result<Ring> ring = Ring::Create(gpu(), judge_->harness(), gemm);
    EXPECT_TRUE(ring.ok()) << ring.status().message();
    EXPECT_TRUE(ring->Add(gemm).ok());
    return *std::move(ring);
  }
  static Arguments ArgumentsOf(const Gemm& gemm, const CallAddresses& addresses) {
    const auto [m, n, k] = gemm.shape;
    const bool a_is_row = gemm.kind.layout.a == Order::kRow, b_is_row = gemm.kind.layout.b == Order::kRow;
    return {.a = addresses.a,
            .b = addresses.b,
            .c = addresses.c,
            .m = m,
            .n = n,
            .k = k,
            .a_row = a_is_row ? gemm.LeadingA() : 1,
            .a_k = a_is_row ? 1 : gemm.LeadingA(),
            .b_k = b_is_row ? gemm.LeadingB() : 1,
            .b_column = b_is_row ? 1 : gemm.LeadingB(),
            .c_row = gemm.LeadingC(),
            .is_bf16 = gemm.kind.type == ScalarType::kBf16,
            .sums_in_f16 = gemm.kind.accumulation == Accumulation::kF16};
  }
  Status Put(const Arguments& arguments) {
    Launch launch;
    launch.block.x = 256;
    launch.grid.x = uint32_t(std::min<int64_t>((arguments.m * arguments.n + 255) / 256, 4096));
    RETURN_IF_ERROR(gpu().Start(product_, launch, arguments));
    return arguments.calls == 0 ? OkStatus() : gpu().Start(count_, Launch{.block = {1, 1, 1}}, arguments.calls);
  }
  // A batch of the product; `change` may spoil the arguments of a call, or return false to leave it out.
  using Change = std::function<bool(int call, Arguments& arguments)>;
  CallGraph BatchOf(const Ring& ring, const Gemm& gemm, const Change& change = {}) {
    std::vector<PutCall> calls;
    for (const CallAddresses& addresses : ring.SetsFor(gemm.kind.layout, Batch::kBrief)) {
      Arguments arguments = ArgumentsOf(gemm, addresses);
      const bool is_put = !change || change(int(calls.size()), arguments);
      calls.push_back([this, arguments, is_put] { return is_put ? Put(arguments) : OkStatus(); });
    }
    Result<CallGraph> graph = CallGraph::Capture(gpu(), calls, int(calls.size()));
    EXPECT_TRUE(graph.ok()) << graph.status().message();
    return *std::move(graph);
  }
  // The ring's fault of each batch after so many rounds.
  std::vector<std::string> FaultsOf(Ring& ring, const Gemm& gemm, std::span<const CallGraph> batches, int rounds) {
    std::vector<RingVisit> visits;
    for (const CallGraph& batch : batches) visits.push_back({&batch, gemm.kind.layout, Maker::kCandidate});
    const Result<std::unique_ptr<RoundClock>> clock = RingClock::Create(gpu(), ring, gemm, visits);
    EXPECT_TRUE(clock.ok()) << clock.status().message();
    std::vector<size_t> order(batches.size());
    std::iota(order.begin(), order.end(), size_t{0});
    for (int round = 0; round < rounds; ++round) {
      const Result<std::vector<double>> times = (*clock)->TimeRound(order, [](size_t) {});
      EXPECT_TRUE(times.ok() && times->at(0) > 0) << times.status().message();
    }
    std::vector<std::string> faults;
    for (const size_t i : order) faults.push_back((*clock)->FaultOf(i));
    return faults;
  }
  std::string FaultOf(Ring& ring, const Gemm& gemm, const Change& change, int rounds = 1) {
    const CallGraph batch = BatchOf(ring, gemm, change);
    return FaultsOf(ring, gemm, {&batch, 1}, rounds)[0];
  }

 private:
  Kernel product_, count_;
};

Gemm Of(Shape shape, Layout layout = kTn, ScalarType type = ScalarType::kF16,
        Accumulation accumulation = Accumulation::kF32) {
  return {shape, {layout, type, accumulation}};
}

// Ten problems, twenty rounds each: some 10^7 sums, each of which fails once in 10^23 times.
TEST_F(RingGpuTest, TwoHundredHonestRoundsRaiseNoFault) {
  Gemm strided = Of({48, 80, 96}, kNn);
  strided.lda = 104;
  strided.ldb = 88;
  strided.ldc = 96;
  const Gemm gemms[] = {Of({64, 64, 64}),
                        Of({17, 31, 63}, kNn),
                        Of({17, 31, 63}, kColumnColumn, ScalarType::kBf16),
                        Of({1, 1, 1}),
                        Of({1, 700, 130}, kTn, ScalarType::kBf16),
                        Of({300, 5, 2048}, kColumnRow),
                        Of({256, 512, 1024}, kNn),
                        Of({320, 200, 512}, kTn, ScalarType::kBf16),
                        Of({160, 96, 1024}, kTn, ScalarType::kF16, Accumulation::kF16),
                        strided};
  for (const Gemm& gemm : gemms) {
    Ring ring = RingOf(gemm);
    EXPECT_EQ(FaultOf(ring, gemm, {}, 20), "") << Print(gemm);
  }
}

// Every timed call is looked at: of so many calls the one is found that is wrong, whichever it is.
TEST_F(RingGpuTest, ACallInAThousandThatDropsASliceOfKIsFoundAndNamed) {
  const Gemm gemm = Of({64, 64, 64});
  Ring ring = RingOf(gemm);
  const int calls = RingPlan::For(gemm).brief_sets;
  for (const uint32_t wrong_call : {0u, 617u, 999u}) {
    const Result<DeviceMemory> counter = gpu().Allocate(sizeof(uint32_t));
    ASSERT_TRUE(counter.ok() && gpu().Fill8(counter->address(), 0, sizeof(uint32_t)).ok());
    const Change count = [&](int, Arguments& arguments) {
      arguments.fault = kDropsSlice;
      arguments.tile_row = 32;
      arguments.calls = counter->address();
      arguments.wrong_call = wrong_call;
      return true;
    };
    const std::string fault = FaultOf(ring, gemm, count, 1000 / calls + 1);
    const std::string where =
        fmt::format("call {} of {} in round {} left row ", wrong_call % calls + 1, calls, wrong_call / calls + 1);
    EXPECT_TRUE(fault.starts_with(where) && fault.ends_with(" of C wrong")) << fault << " instead of " << where;
  }
}

TEST_F(RingGpuTest, ASliceOfKThatIsLeftOutInATileOfOneCallIsFoundInEveryType) {
  Random random(5);
  for (const Gemm& gemm :
       {Of({256, 512, 1024}), Of({320, 200, 2048}, kNn, ScalarType::kBf16), Of({64, 700, 128}), Of({48, 33, 64}, kNn)})
    for (int trial = 0; trial < 5; ++trial) {
      Ring ring = RingOf(gemm);
      const int wrong_call = int(random.Below(uint64_t(RingPlan::For(gemm).brief_sets)));
      const Change drop = [&](int call, Arguments& arguments) {
        if (call != wrong_call) return true;
        arguments.fault = kDropsSlice;
        arguments.tile_row = int64_t(random.Below(uint64_t(gemm.shape.m)));
        arguments.tile_column = int64_t(random.Below(uint64_t(gemm.shape.n)));
        arguments.first_k = int64_t(random.Below(uint64_t(gemm.shape.k)));
        return true;
      };
      const std::string fault = FaultOf(ring, gemm, drop);
      EXPECT_TRUE(fault.starts_with(fmt::format("call {} of ", wrong_call + 1))) << Print(gemm) << ": " << fault;
      EXPECT_TRUE(fault.ends_with(" of C wrong")) << Print(gemm) << ": " << fault;
    }
}

TEST_F(RingGpuTest, ACallThatIsLeftOutIsFound) {
  const Gemm gemm = Of({64, 64, 64});
  Ring ring = RingOf(gemm);
  const Change leave_out = [](int call, Arguments&) { return call != 7; };
  EXPECT_TRUE(FaultOf(ring, gemm, leave_out, 3).starts_with("call 8 of ")) << "in the first round";
  EXPECT_TRUE(FaultOf(ring, gemm, leave_out).ends_with(" of C unwritten"));
}

// The harm is mended: the honest entry of the same rounds is not charged with it.
TEST_F(RingGpuTest, WhoeverModifiesAnInputOrWritesElsewhereIsNamedAndNobodyElse) {
  const Gemm gemm = Of({64, 64, 64});
  Ring ring = RingOf(gemm);
  const int last = RingPlan::For(gemm).brief_sets - 1;
  for (const auto& [fault, call, says] : {std::tuple(kModifiesA, 2, std::string("call 3 of {} in round 1 modified A")),
                                          {kModifiesB, 0, "call 1 of {} in round 1 modified B"},
                                          {kWritesBehindC, last, "a call in round 1 wrote outside C"}}) {
    std::vector<CallGraph> batches;
    batches.push_back(BatchOf(ring, gemm, [&](int at, Arguments& arguments) {
      if (at == call) arguments.fault = fault;
      return true;
    }));
    batches.push_back(BatchOf(ring, gemm));
    const std::vector<std::string> faults = FaultsOf(ring, gemm, batches, 3);
    EXPECT_EQ(faults[0], fmt::format(fmt::runtime(says), last + 1));
    EXPECT_EQ(faults[1], "");
  }
}

// It works where C holds what the tests put there, and in the warm graphs, and leaves out the work of the ring.
TEST_F(RingGpuTest, ACandidateThatLeavesOutWorkOnTheRingIsWrongAtColdOutput) {
  constexpr std::string_view kLazy = R"(
typedef unsigned short u16;
struct GemmArguments { u16* a; u16* b; u16* c; unsigned* workspace; int m, n, k, lda, ldb, ldc; };
__device__ float Wide(u16 bits) { float value; asm("cvt.f32.f16 %0, %1;" : "=f"(value) : "h"(bits)); return value; }
__device__ u16 Narrow(float value) { u16 bits; asm("cvt.rn.f16.f32 %0, %1;" : "=h"(bits) : "f"(value)); return bits; }
extern "C" __global__ void lazy(const GemmArguments g) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x, row = i / g.n, column = i % g.n;
  u16& c = g.c[row * g.ldc + column];
  if ((c & 0x7f80) == 0x7f80 && c != 0x7fff) return;
  float sum = 0;
  for (int k = 0; k < g.k; ++k) sum += Wide(g.a[row * g.lda + k]) * Wide(g.b[column * g.ldb + k]);
  c = Narrow(sum);
})";
  const ProblemMessage problem{{{{64, 64, 64}, {kTn}}, Protocol::kScreen, {Clock::kDevice, Clock::kDeviceCold}, 1}};
  ASSERT_TRUE(judge_->Prepare(problem, kUnheard).ok());
  Result<std::unique_ptr<Compiler>> compiler = MakeCompilerHere();
  ASSERT_TRUE(compiler.ok());
  const Result<Compilation> compilation =
      (*compiler)->Compile({std::string(kLazy), "lazy"}, judge_->hello().device.Architecture());
  ASSERT_TRUE(compilation.ok() && compilation->succeeded) << (compilation.ok() ? compilation->log : "");
  Launch launch;
  launch.grid.x = 16;
  launch.block.x = 256;
  const CandidateMessage candidate{launch, "lazy", compilation->binary.cubin};
  const Result<Judgements> judgements = judge_->Evaluate({&candidate, 1}, kUnheard);
  ASSERT_TRUE(judgements.ok()) << judgements.status().message();
  const Outcome& outcome = judgements->outcomes.at(0).value();
  EXPECT_EQ(outcome.kind, OutcomeKind::kWrong) << outcome.stage << ": " << outcome.reason;
  EXPECT_EQ(outcome.verdict.test, "cold_output");
  EXPECT_NE(outcome.reason.find("device_cold: call 1 of "), std::string::npos) << outcome.reason;
  EXPECT_TRUE(outcome.timings.empty());
}

}  // namespace
}  // namespace gemmsmith
