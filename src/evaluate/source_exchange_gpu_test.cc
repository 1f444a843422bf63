// Sources on a GPU: the honest pass and are timed as the plan they come from, liars end as what they are, and the next
// one is judged by the same worker. tests/broken_kernels holds the full collection.
#include <gtest/gtest.h>

#include "base/files.h"
#include "base/sandbox.h"
#include "evaluate/gpu_test_fixtures.h"
#include "program/emit.h"

namespace gemmsmith {
namespace {

const Gemm kGemm{{512, 256, 384}, {kTn}};

// One thread an element; `body` is what gemm() does, which may use Launch().
std::string Source(const std::string& body, const std::string& before = "") {
  return R"(#include <cuda_fp16.h>
#include <cuda_runtime.h>

extern "C" const char gemmsmith_descriptor_v1[] = "gemm tn f16 f32";

__global__ void multiply(const __half* a, const __half* b, __half* c, int m, int n, int k) {
  const int row = blockIdx.y * 16 + threadIdx.y, column = blockIdx.x * 16 + threadIdx.x;
  if (row >= m || column >= n) return;
  float sum = 0;
  for (int i = 0; i < k; ++i) sum += __half2float(a[size_t(row) * k + i]) * __half2float(b[size_t(column) * k + i]);
  c[size_t(row) * n + column] = __float2half(sum);
}

static cudaError_t Launch(const void* a, const void* b, void* c, int m, int n, int k, cudaStream_t stream) {
  multiply<<<dim3((n + 15) / 16, (m + 15) / 16), dim3(16, 16), 0, stream>>>(
      static_cast<const __half*>(a), static_cast<const __half*>(b), static_cast<__half*>(c), m, n, k);
  return cudaGetLastError();
}
)" + before +
         R"(
extern "C" cudaError_t gemm(const void* a, const void* b, void* c, int m, int n, int k, void* workspace,
                            size_t workspace_bytes, cudaStream_t stream) {
)" + body +
         "\n}\n";
}

class SourceGpuTest : public TestWithWorker {
 protected:
  static void SetUpTestSuite() {
    skip_reason_ = WhyNoSources();
    if (skip_reason_.empty()) StartWorker({.candidate_limit_seconds = 20});
  }
  static void TearDownTestSuite() {
    objects_.reset();
    TestWithWorker::TearDownTestSuite();
  }

  // Opens what compiles them, where all is there.
  static std::string WhyNoSources() {
    if (std::string reason = WhyNoWorker(); !reason.empty()) return reason;
    if (const Status sandbox = SandboxWorks(); !sandbox.ok()) return std::string(sandbox.message());
    Result<std::unique_ptr<ObjectCompiler>> objects = MakeObjectCompiler();
    if (!objects.ok()) return std::string(objects.status().message());
    objects_ = MakeCachedObjectCompiler(*std::move(objects), HomeFolder() / "cache");
    return "";
  }

  static Outcome Judge(EvaluationRequest request) {
    const Result<PreparedCandidate> candidate = Prepare(request, evaluator_->device(), *compiler_, objects_.get());
    EXPECT_TRUE(candidate.ok()) << candidate.status().message();
    if (!candidate.ok()) return {};
    const Result<Outcome> outcome = evaluator_->Evaluate(request, *candidate);
    EXPECT_TRUE(outcome.ok()) << outcome.status().message();
    return outcome.ok() ? *outcome : Outcome{};
  }
  static EvaluationRequest RequestFor(const std::string& text) {
    EvaluationRequest request;
    request.gemm = kGemm;
    request.subject = FreeForm{"test.cu", text};
    return request;
  }
  static Outcome JudgeText(const std::string& text, bool time = true) {
    EvaluationRequest request = RequestFor(text);
    request.time = time;
    return Judge(request);
  }
  // Past the screen of the object, which would refuse some of them: what is tested is the judge behind it.
  static Outcome JudgeUnscreened(const EvaluationRequest& request) {
    Result<PreparedCandidate> candidate = Prepare(request, evaluator_->device(), *compiler_, objects_.get());
    EXPECT_TRUE(candidate.ok() && candidate->object) << (candidate.ok() ? candidate->compilation.log : "");
    if (!candidate.ok() || !candidate->object) return {};
    candidate->ended.reset();
    const Result<Outcome> outcome = evaluator_->Evaluate(request, *candidate);
    EXPECT_TRUE(outcome.ok()) << outcome.status().message();
    return outcome.ok() ? *outcome : Outcome{};
  }

  inline static std::unique_ptr<ObjectCompiler> objects_;
};

TEST_F(SourceGpuTest, AnHonestSourceIsMeasuredAndItsLaunchesAreSeen) {
  const Outcome outcome = JudgeText(Source("return Launch(a, b, c, m, n, k, stream);"));
  ASSERT_EQ(outcome.kind, OutcomeKind::kMeasured) << outcome.reason;
  EXPECT_GT(outcome.TimeNs(), 1000);
  EXPECT_FALSE(outcome.comparisons.empty());
  ASSERT_EQ(outcome.kernels.size(), 1) << outcome.observer;
  EXPECT_NE(outcome.kernels[0].name.find("multiply"), std::string::npos);
  EXPECT_EQ(outcome.kernels[0].launches, 1);
}

TEST_F(SourceGpuTest, ItIsTimedOnEveryClockOfCallsBesideItsRivals) {
  EvaluationRequest request;
  request.gemm = kGemm;
  request.subject = FreeForm{"test.cu", Source("return Launch(a, b, c, m, n, k, stream);")};
  request.clocks = {Clock::kDevice, Clock::kOffline, Clock::kServer, Clock::kHost};
  const Outcome outcome = Judge(request);
  ASSERT_EQ(outcome.kind, OutcomeKind::kMeasured) << outcome.reason;
  for (const Clock clock : {Clock::kOffline, Clock::kServer, Clock::kHost}) {
    const Timing* const ours = outcome.Find("ours", clock);
    ASSERT_NE(ours, nullptr) << Name(clock);
    EXPECT_NE(outcome.FastestBaseline("lt_auto", clock), nullptr) << Name(clock);
    EXPECT_GE(ours->median_ns, 0.98 * outcome.TimeNs()) << Name(clock);
    EXPECT_LT(ours->median_ns, outcome.TimeNs() + 100e3) << Name(clock);
  }
}

TEST_F(SourceGpuTest, WithoutTimingItIsVerified) {
  EXPECT_EQ(JudgeText(Source("return Launch(a, b, c, m, n, k, stream);"), false).kind, OutcomeKind::kVerified);
}

TEST_F(SourceGpuTest, APlanAsASourceTakesAsLongAsThePlan) {
  EvaluationRequest request;
  request.gemm = {{512, 512, 4096}, {kTn}};
  request.subject = DefaultPlan(FamilyId::kWgmma);
  request.protocol = Protocol::kShort;
  const Outcome plan = Judge(request);
  ASSERT_EQ(plan.kind, OutcomeKind::kMeasured) << plan.reason;
  request.subject = FreeForm{"plan.cu", EmitStandalone(DefaultPlan(FamilyId::kWgmma), request.gemm)};
  const Outcome source = Judge(request);
  ASSERT_EQ(source.kind, OutcomeKind::kMeasured) << source.reason;
  // Over the same baseline, and with few CTAs: a source's batches come one by one and find a GPU below the power cap.
  // At the cap the ratio is 0.94 in some runs.
  const auto over_rival = [](const Outcome& outcome) {
    return outcome.TimeNs() / outcome.FastestBaseline("lt_auto", Clock::kDevice)->median_ns;
  };
  EXPECT_NEAR(over_rival(source) / over_rival(plan), 1, 0.05) << source.TimeNs() << " " << plan.TimeNs();
}

// CTAs that wait for each other need a cooperative launch.
TEST_F(SourceGpuTest, APlanWhoseSplitsExchangeAsASourceIsHonest) {
  EvaluationRequest request;
  request.gemm = {{512, 512, 8192}, {kTn}};
  const Plan plan = *ParsePlan("wgmma tile_m=128 tile_n=128 split=8 reduction=exchange");
  request.subject = FreeForm{"exchange.cu", EmitStandalone(plan, request.gemm)};
  const Outcome outcome = Judge(request);
  EXPECT_EQ(outcome.kind, OutcomeKind::kMeasured) << outcome.reason;
}

EvaluationRequest Counted(EvaluationRequest request, bool time) {
  request.time = time;
  request.counters = true;
  return request;
}

TEST_F(SourceGpuTest, CountersComeWithTheOutcomeWhereTheyAreAskedFor) {
  const std::string text = Source("return Launch(a, b, c, m, n, k, stream);");
  EXPECT_FALSE(JudgeText(text).counters);
  const Outcome outcome = Judge(Counted(RequestFor(text), true));
  ASSERT_EQ(outcome.kind, OutcomeKind::kMeasured) << outcome.reason;
  ASSERT_TRUE(outcome.counters);
  const Counters& counters = *outcome.counters;
  EXPECT_GT(counters[Counter::kWaves].value_or(0), 0) << counters.lacks;
  EXPECT_GT(counters[Counter::kRegisters].value_or(0), 0) << counters.lacks;
  if (counters.observer.empty()) GTEST_SKIP() << counters.lacks;
  EXPECT_EQ(counters.observer, "guest");
  EXPECT_EQ(counters.lacks, "");
  EXPECT_NEAR(counters[Counter::kDuration].value_or(0) / outcome.TimeNs(), 1, 0.3);
  EXPECT_GT(counters[Counter::kInstructions].value_or(0), 0);
}

TEST_F(SourceGpuTest, CountersOfTwoKernelsAreThoseOfBoth) {
  const Outcome one = Judge(Counted(RequestFor(Source("return Launch(a, b, c, m, n, k, stream);")), false));
  const Outcome two =
      Judge(Counted(RequestFor(Source("if (cudaError_t error = Launch(a, b, c, m, n, k, stream)) return error;\n"
                                      "return Launch(a, b, c, m, n, k, stream);")),
                    false));
  ASSERT_EQ(one.kind, OutcomeKind::kVerified) << one.reason;
  ASSERT_EQ(two.kind, OutcomeKind::kVerified) << two.reason;
  ASSERT_TRUE(one.counters && two.counters);
  if (one.counters->observer.empty()) GTEST_SKIP() << one.counters->lacks;
  const auto ratio = [&](Counter counter) {
    return two.counters.value()[counter].value_or(0) / one.counters.value()[counter].value_or(1);
  };
  EXPECT_NEAR(ratio(Counter::kInstructions), 2, 0.01) << two.counters->lacks;
  EXPECT_NEAR(ratio(Counter::kDuration), 2, 0.4);
  EXPECT_NEAR(ratio(Counter::kSmBusy), 1, 0.2);
  EXPECT_EQ(ratio(Counter::kWaves), 1);
}

// Only a guest that counts begins with a capture.
TEST_F(SourceGpuTest, ASourceThatFailsWhereItIsCountedLosesItsCountersAlone) {
  const std::string text = Source(
      "cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;\n"
      "cudaStreamIsCapturing(stream, &status);\n"
      "if (calls++ == 0) is_counted = status != cudaStreamCaptureStatusNone;\n"
      "return is_counted ? cudaErrorInvalidValue : Launch(a, b, c, m, n, k, stream);",
      "static int calls;\nstatic bool is_counted;\n");
  const Outcome outcome = JudgeUnscreened(Counted(RequestFor(text), false));
  ASSERT_EQ(outcome.kind, OutcomeKind::kVerified) << outcome.reason;
  ASSERT_TRUE(outcome.counters);
  EXPECT_EQ(outcome.counters->PresentBits(), 0u);
  EXPECT_NE(outcome.counters->lacks.find("cudaErrorInvalidValue"), std::string::npos) << outcome.counters->lacks;
}

struct Liar {
  const char* name;
  OutcomeKind kind;
  const char* reason;  // part of it
  const char* before;
  const char* body;
};

void PrintTo(const Liar& liar, std::ostream* out) { *out << liar.name; }

class LyingSource : public SourceGpuTest, public testing::WithParamInterface<Liar> {};

TEST_P(LyingSource, IsFoundAndTheNextOneIsJudged) {
  const Outcome outcome = JudgeUnscreened(RequestFor(Source(GetParam().body, GetParam().before)));
  EXPECT_EQ(outcome.kind, GetParam().kind) << outcome.reason;
  EXPECT_NE(outcome.reason.find(GetParam().reason), std::string::npos) << outcome.reason;
  const Outcome next = JudgeText(Source("return Launch(a, b, c, m, n, k, stream);"), false);
  EXPECT_EQ(next.kind, OutcomeKind::kVerified) << next.reason;
}

INSTANTIATE_TEST_SUITE_P(
    Source, LyingSource,
    testing::Values(
        Liar{"returns_an_error", OutcomeKind::kLaunchFailed, "cudaErrorInvalidValue", "",
             "return cudaErrorInvalidValue;"},
        Liar{"faults_on_the_device", OutcomeKind::kLaunchFailed, "CUDA_ERROR_ILLEGAL_ADDRESS", "",
             "return Launch(nullptr, b, c, m, n, k, stream);"},
        Liar{"declines_to_be_captured", OutcomeKind::kLaunchFailed, "calls of gemm() are not captured", "",
             "cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;\n"
             "cudaStreamIsCapturing(stream, &status);\n"
             "if (status != cudaStreamCaptureStatusNone) return cudaErrorInvalidValue;\n"
             "return Launch(a, b, c, m, n, k, stream);"},
        Liar{"crashes", OutcomeKind::kLaunchFailed, "signal 11", "", "*(volatile int*)8 = 1; return cudaSuccess;"},
        Liar{"leaves", OutcomeKind::kLaunchFailed, "exit code 0", "#include <cstdlib>\n", "std::_Exit(0);"},
        Liar{"hangs", OutcomeKind::kTimedOut, "no sign of life",
             "__global__ void forever(volatile int* x) { while (*x == 0) {} }\n",
             "forever<<<1, 1, 0, stream>>>((int*)workspace); return Launch(a, b, c, m, n, k, stream);"},
        Liar{"forks", OutcomeKind::kCheated, "system call", "#include <unistd.h>\n",
             "fork(); return Launch(a, b, c, m, n, k, stream);"},
        Liar{"writes_to_a", OutcomeKind::kLaunchFailed, "CUDA_ERROR_ILLEGAL_ADDRESS",
             "__global__ void Borrow(volatile short* x) { const short before = *x; *x = 0, *x = before; }\n",
             "Borrow<<<1, 1, 0, stream>>>((short*)a); return Launch(a, b, c, m, n, k, stream);"},
        Liar{"reads_behind_b", OutcomeKind::kLaunchFailed, "CUDA_ERROR_ILLEGAL_ADDRESS",
             "__global__ void Look(const volatile short* x) { (void)*x; }\n",
             "Look<<<1, 1, 0, stream>>>((const short*)b + size_t(n) * k); return Launch(a, b, c, m, n, k, stream);"},
        Liar{"wants_more_alignment", OutcomeKind::kLaunchFailed, "begin at odd multiples of 16 bytes", "",
             "if ((size_t)a % 32 != 0) return cudaErrorMisalignedAddress;\n"
             "return Launch(a, b, c, m, n, k, stream);"},
        Liar{"does_nothing", OutcomeKind::kWrong, "elements are wrong", "", "return cudaSuccess;"},
        Liar{"keeps_the_output", OutcomeKind::kWrong, "test", "static int calls = 0;\n",
             "if (++calls % 4 == 0) return cudaSuccess; return Launch(a, b, c, m, n, k, stream);"},
        Liar{"computes_the_holes_only", OutcomeKind::kWrong, "changed_inputs",
             "__global__ void fill(const __half* a, const __half* b, __half* c, int m, int n, int k) {\n"
             "  const int row = blockIdx.y * 16 + threadIdx.y, column = blockIdx.x * 16 + threadIdx.x;\n"
             "  if (row >= m || column >= n || !__hisnan(c[size_t(row) * n + column])) return;\n"
             "  float sum = 0;\n"
             "  for (int i = 0; i < k; ++i)\n"
             "    sum += __half2float(a[size_t(row) * k + i]) * __half2float(b[size_t(column) * k + i]);\n"
             "  c[size_t(row) * n + column] = __float2half(sum);\n"
             "}\n",
             "fill<<<dim3((n + 15) / 16, (m + 15) / 16), dim3(16, 16), 0, stream>>>(\n"
             "    (const __half*)a, (const __half*)b, (__half*)c, m, n, k);\n"
             "return cudaGetLastError();"},
        Liar{"does_not_wait_for_the_call_ahead", OutcomeKind::kWrong, "chained_calls",
             "__global__ void early(const __half* a, const __half* b, __half* c, int m, int n, int k) {\n"
             "  asm volatile(\"griddepcontrol.launch_dependents;\" ::: \"memory\");\n"
             "  const int row = blockIdx.y * 16 + threadIdx.y, column = blockIdx.x * 16 + threadIdx.x;\n"
             "  if (row >= m || column >= n) return;\n"
             "  float sum = 0;\n"
             "  for (int i = 0; i < k; ++i)\n"
             "    sum += __half2float(a[size_t(row) * k + i]) * __half2float(b[size_t(column) * k + i]);\n"
             "  c[size_t(row) * n + column] = __float2half(sum);\n"
             "}\n",
             "cudaLaunchAttribute at_once{};\n"
             "at_once.id = cudaLaunchAttributeProgrammaticStreamSerialization;\n"
             "at_once.val.programmaticStreamSerializationAllowed = 1;\n"
             "cudaLaunchConfig_t config{};\n"
             "config.gridDim = dim3((n + 15) / 16, (m + 15) / 16);\n"
             "config.blockDim = dim3(16, 16);\n"
             "config.stream = stream;\n"
             "config.attrs = &at_once;\n"
             "config.numAttrs = 1;\n"
             "return cudaLaunchKernelEx(&config, early, (const __half*)a, (const __half*)b, (__half*)c, m, n, k);"},
        Liar{"allocates", OutcomeKind::kCheated, "cuMemAlloc", "",
             "void* p; cudaMalloc(&p, 1 << 20); return Launch(a, b, c, m, n, k, stream);"},
        Liar{"works_on_another_stream", OutcomeKind::kCheated, "", "static cudaStream_t other;\n",
             "if (!other) cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking);\n"
             "return Launch(a, b, c, m, n, k, other);"},
        Liar{"leaves_the_workspace_dirty", OutcomeKind::kCheated, "workspace", "",
             "cudaMemsetAsync(workspace, 1, 64, stream); return Launch(a, b, c, m, n, k, stream);"}),
    [](const auto& instance) { return std::string(instance.param.name); });

}  // namespace
}  // namespace gemmsmith
