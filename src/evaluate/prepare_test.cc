#include <gtest/gtest.h>

#include "evaluate/evaluator.h"
#include "program/emit.h"

namespace gemmsmith {
namespace {

// Answers with what a test wants to have been compiled.
class FakeCompiler : public Compiler {
 public:
  Result<Compilation> Compile(const Source& source, std::string_view architecture) override {
    ++calls;
    last_source = source;
    last_architecture = architecture;
    if (!failure.ok()) return failure;
    return compilation;
  }
  std::string Identity() const override { return "fake"; }

  Compilation compilation;
  Status failure;
  int calls = 0;
  Source last_source;
  std::string last_architecture;
};

class PrepareTest : public testing::Test {
 protected:
  PrepareTest() {
    request_.gemm = {{64, 64, 512}, {kTn}};
    request_.subject = DefaultPlan(FamilyId::kDirect);
    compiler_.compilation.succeeded = true;
    compiler_.compilation.seconds = 0.5;
    facts_ = {.registers = 64, .code_bytes = 1000, .instructions = 100, .mma_f32 = 8};
  }
  PreparedCandidate Run() {
    compiler_.compilation.binary.facts = facts_;
    Result<PreparedCandidate> candidate = Prepare(request_, device_, compiler_);
    EXPECT_TRUE(candidate.ok()) << candidate.status().message();
    return *std::move(candidate);
  }
  void ExpectEnd(OutcomeKind kind, std::string_view stage, std::string_view words) {
    const PreparedCandidate candidate = Run();
    ASSERT_TRUE(candidate.ended);
    EXPECT_EQ(candidate.ended->kind, kind);
    EXPECT_EQ(candidate.ended->stage, stage);
    EXPECT_NE(candidate.ended->reason.find(words), std::string::npos) << candidate.ended->reason;
  }

  EvaluationRequest request_;
  Device device_ = *FindDevice("h200");
  FakeCompiler compiler_;
  CodeFacts facts_;
};

TEST_F(PrepareTest, AGoodCandidateGoesOn) {
  const PreparedCandidate candidate = Run();
  EXPECT_FALSE(candidate.ended) << candidate.ended->reason;
  EXPECT_TRUE(candidate.compilation.succeeded);
  EXPECT_EQ(compiler_.last_architecture, "sm_90a");
  EXPECT_FALSE(compiler_.last_source.entry.empty());
}

TEST_F(PrepareTest, AnIllegalPlanIsNeverCompiled) {
  device_.compute_major = 7;
  device_.compute_minor = 0;
  ExpectEnd(OutcomeKind::kIllegal, "check", "");
  EXPECT_EQ(compiler_.calls, 0);
}

TEST_F(PrepareTest, ACompilersErrorIsTheReason) {
  compiler_.compilation.succeeded = false;
  compiler_.compilation.log = "kernel.cu(3): warning: unused\nkernel.cu(7): error: no such thing\n1 error detected";
  ExpectEnd(OutcomeKind::kCompileFailed, "compile", "kernel.cu(7): error: no such thing");
  compiler_.compilation.log = "";
  ExpectEnd(OutcomeKind::kCompileFailed, "compile", "no reason");
}

TEST_F(PrepareTest, SpillsAreOverTheResources) {
  facts_.local_bytes = 48;
  facts_.local_memory_instructions = 6;
  ExpectEnd(OutcomeKind::kResourceOver, "resources", "48 bytes of local memory");
}

TEST_F(PrepareTest, LocalMemoryInstructionsAloneAreOverToo) {
  facts_.local_memory_instructions = 1;
  ExpectEnd(OutcomeKind::kResourceOver, "resources", "1 instructions");
}

TEST_F(PrepareTest, StaticAndDynamicSharedMemoryAddUp) {
  facts_.static_smem_bytes = device_.smem_bytes_per_block + 1;
  ExpectEnd(OutcomeKind::kResourceOver, "resources", "shared memory");
}

TEST_F(PrepareTest, RegistersOfTheWholeBlockCount) {
  device_.registers_per_block = 100 * 128;  // enough for what the plan was estimated to need
  facts_.registers = 200;
  ExpectEnd(OutcomeKind::kResourceOver, "resources", "registers");
}

TEST_F(PrepareTest, AnF16AccumulatorUnderAnF32LabelIsWrong) {
  facts_.mma_f16 = 1;
  ExpectEnd(OutcomeKind::kWrong, "resources", "accumulate in f16");
  facts_.mma_f16 = 0;
  facts_.wgmma_f16 = 2;
  ExpectEnd(OutcomeKind::kWrong, "resources", "2 matrix instructions accumulate in f16");
}

// Wider accumulators than the problem asks for are accepted.
TEST_F(PrepareTest, WhereTheProblemSaysF16EitherAccumulatorPasses) {
  request_.gemm.kind.accumulation = Accumulation::kF16;
  EXPECT_FALSE(Run().ended) << "accumulates in f32";
  facts_.mma_f32 = 0;
  facts_.mma_f16 = 4;
  EXPECT_FALSE(Run().ended) << "accumulates in f16";
  facts_.mma_f16 = 0;
  ExpectEnd(OutcomeKind::kWrong, "resources", "no matrix instruction");
}

TEST_F(PrepareTest, ACandidateWithoutMatrixInstructionsIsWrong) {
  facts_.mma_f32 = 0;
  ExpectEnd(OutcomeKind::kWrong, "resources", "no matrix instruction");
}

TEST_F(PrepareTest, TheEndCarriesWhatWasFound) {
  facts_.local_bytes = 8;
  request_.protocol = Protocol::kShort;
  const PreparedCandidate candidate = Run();
  ASSERT_TRUE(candidate.ended);
  EXPECT_EQ(candidate.ended->facts, facts_);
  EXPECT_EQ(candidate.ended->protocol, Protocol::kShort);
  EXPECT_EQ(candidate.ended->compile_seconds, 0.5);
}

TEST_F(PrepareTest, AMissingToolchainIsAStatus) {
  compiler_.failure = Unavailable("no libnvrtc");
  EXPECT_EQ(Prepare(request_, device_, compiler_).status().code(), StatusCode::kUnavailable);
}

const std::string kFreeForm = R"(#include <cuda_runtime.h>
extern "C" const char gemmsmith_descriptor_v1[] = "gemm tn f16 f32";
extern "C" cudaError_t gemm(const void* a, const void* b, void* c, int m, int n, int k, void* workspace,
                            size_t workspace_bytes, cudaStream_t stream);
)";

class FakeSourceCompiler : public SourceCompiler {
 public:
  Result<SourceCompilation> Compile(const std::string&, std::string_view architecture) override {
    ++calls;
    last_architecture = architecture;
    return compilation;
  }
  std::string Identity() const override { return "fake"; }

  SourceCompilation compilation;
  int calls = 0;
  std::string last_architecture;
};

class PrepareFreeFormTest : public PrepareTest {
 protected:
  PrepareFreeFormTest() {
    request_.subject = FreeForm{"some.cu", kFreeForm};
    sources_.compilation = {.log = "words", .seconds = 2};
  }
  void ExpectEnd(SourceCompiler& sources, OutcomeKind kind, std::string_view stage, std::string_view words) {
    const Result<PreparedCandidate> candidate = Prepare(request_, device_, compiler_, &sources);
    ASSERT_TRUE(candidate.ok()) << candidate.status().message();
    ASSERT_TRUE(candidate->ended);
    EXPECT_EQ(candidate->ended->kind, kind);
    EXPECT_EQ(candidate->ended->stage, stage);
    EXPECT_NE(candidate->ended->reason.find(words), std::string::npos) << candidate->ended->reason;
  }
  FakeSourceCompiler sources_;
};

TEST_F(PrepareFreeFormTest, NeedsACompilerOfSources) {
  EXPECT_EQ(Prepare(request_, device_, compiler_).status().code(), StatusCode::kUnavailable);
}

TEST_F(PrepareFreeFormTest, PythonIsIllegalAndNeverCompiled) {
  request_.subject = FreeForm{"kernel.py", "import triton\n@triton.jit\ndef gemm(a):\n"};
  ExpectEnd(sources_, OutcomeKind::kIllegal, "check", "Python");
  EXPECT_EQ(sources_.calls, 0);
}

TEST_F(PrepareFreeFormTest, ACompilersErrorIsTheReason) {
  sources_.compilation.log = "kernel.cu(3): warning: x\nkernel.cu(7): error: no such thing\n";
  ExpectEnd(sources_, OutcomeKind::kCompileFailed, "compile", "kernel.cu(7): error");
  EXPECT_EQ(sources_.last_architecture, "sm_90a");
}

// A source that nvcc builds. gemm() supports m of 64 and more.
class PrepareBuiltSourceTest : public PrepareFreeFormTest {
 protected:
  void SetUp() override {
    Result<std::unique_ptr<SourceCompiler>> nvcc = MakeSourceCompiler();
    if (!nvcc.ok()) GTEST_SKIP() << nvcc.status().message();
    nvcc_ = *std::move(nvcc);
  }
  // A kernel of one line, and what gemm() does for m of 64 and more.
  void Write(std::string_view kernel, std::string_view gemm) {
    request_.subject = FreeForm{"source.cu", fmt::format(R"({}
__global__ void kernel(unsigned* p) {{
  unsigned d[4] = {{}};
  float f[4] = {{}};
  {}
  for (int i = 0; i < 4; ++i) p[i] = d[i] + f[i];
}}
extern "C" cudaError_t gemm(const void* a, const void*, void* c, int m, int, int, void*, size_t, cudaStream_t stream) {{
  if (m < 64) return cudaErrorInvalidValue;
  {}
  return cudaGetLastError();
}})",
                                                         kFreeForm, kernel, gemm)};
  }
  static constexpr std::string_view kLaunch = "kernel<<<1, 32, 0, stream>>>((unsigned*)c);";
  std::unique_ptr<SourceCompiler> nvcc_;
};

TEST_F(PrepareBuiltSourceTest, AnHonestSourceIsRecordedForItsShapeAndForHalfOfIt) {
  Write(R"(asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%4,%5},"
               "{%0,%1,%2,%3};" : "+f"(f[0]), "+f"(f[1]), "+f"(f[2]), "+f"(f[3])
               : "r"(d[0]), "r"(d[1]), "r"(d[2]), "r"(d[3]));)",
        kLaunch);
  for (const int m : {64, 128}) {
    request_.gemm.shape.m = m;
    const Result<PreparedCandidate> candidate = Prepare(request_, device_, compiler_, nvcc_.get());
    ASSERT_TRUE(candidate.ok()) << candidate.status().message();
    ASSERT_TRUE(candidate->source) << candidate->ended->reason;
    EXPECT_FALSE(candidate->ended);
    EXPECT_EQ(candidate->compilation.binary.facts.mma_f32, 1);
    EXPECT_EQ(candidate->source->cubins.size(), 1u);
    EXPECT_EQ(std::get<KernelStep>(candidate->source->recipe.steps.at(0)).kernel, "_Z6kernelPj");
    EXPECT_EQ(candidate->source->half_shape, (Shape{m / 2, 32, 256}));
    EXPECT_EQ(candidate->source->half_recipe.has_value(), m == 128);
  }
}

TEST_F(PrepareBuiltSourceTest, NarrowSumsAreWrong) {
  Write(R"(asm volatile("mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16 {%0,%1}, {%0,%1,%2,%3}, {%0,%1},"
               "{%0,%1};" : "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3]));)",
        kLaunch);
  ExpectEnd(*nvcc_, OutcomeKind::kWrong, "resources", "1 matrix instructions accumulate in f16");
}

TEST_F(PrepareBuiltSourceTest, ReasonsOfEachStageEndACandidate) {
  Write("", kLaunch);
  request_.gemm.kind.layout = kNn;
  ExpectEnd(*nvcc_, OutcomeKind::kIllegal, "check", "the layout is tn");
  request_.gemm.kind.layout = kTn;
  request_.gemm.shape.m = 32;
  ExpectEnd(*nvcc_, OutcomeKind::kLaunchFailed, "recording",
            "gemm returns cudaErrorInvalidValue (asked for 32x64x512)");
  request_.gemm.shape.m = 64;
  Write("p[4] = clock();", kLaunch);
  ExpectEnd(*nvcc_, OutcomeKind::kCheated, "screening", "kernel _Z6kernelPj reads a clock");
  Write("", "if (size_t(a) % 256 == 0) kernel<<<1, 32, 0, stream>>>((unsigned*)c);");
  ExpectEnd(*nvcc_, OutcomeKind::kCheated, "recording", "launches 1 kernels and memsets in one call and 0");
  Write("", "*(volatile int*)c = 1;");
  ExpectEnd(*nvcc_, OutcomeKind::kLaunchFailed, "recording", "gemm crashes (SIGSEGV) (asked for 64x64x512)");
  Write("", "if (cudaStreamSynchronize(stream)) return cudaErrorUnknown;");
  ExpectEnd(*nvcc_, OutcomeKind::kCompileFailed, "compile", "the contract has no cudaStreamSynchronize");
}

}  // namespace
}  // namespace gemmsmith
