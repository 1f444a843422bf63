#include <gtest/gtest.h>

#include <fstream>

#include "base/files.h"
#include "base/subprocess.h"
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

// Of more bits than the problem asks for nobody is refused.
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

// Host code by g++, as nvcc would link it.
std::vector<uint8_t> HostObject(const std::string& text) {
  const TemporaryFolder folder = *TemporaryFolder::Create("gemmsmith-prepare-test");
  std::ofstream(folder.path() / "host.cc") << text;
  const std::string object = folder.path() / "host.so";
  const ProcessResult process =
      *RunProcess({"g++", "-shared", "-fPIC", "-o", object, folder.path() / "host.cc"}, std::chrono::seconds(60));
  EXPECT_EQ(process.exit_code, 0) << process.output;
  const std::string bytes = *ReadFile(object);
  return {bytes.begin(), bytes.end()};
}

class FakeObjectCompiler : public ObjectCompiler {
 public:
  Result<ObjectCompilation> Compile(const std::string&, std::string_view architecture) override {
    ++calls;
    last_architecture = architecture;
    return compilation;
  }
  std::string Identity() const override { return "fake"; }

  ObjectCompilation compilation;
  int calls = 0;
  std::string last_architecture;
};

class PrepareFreeFormTest : public PrepareTest {
 protected:
  PrepareFreeFormTest() {
    request_.subject = FreeForm{"some.cu", kFreeForm};
    objects_.compilation = {.log = "words", .seconds = 2};
  }
  void Build(const std::string& text) { objects_.compilation.object = SharedObject{.bytes = HostObject(text)}; }
  void ExpectEnd(ObjectCompiler& objects, OutcomeKind kind, std::string_view stage, std::string_view words) {
    const Result<PreparedCandidate> candidate = Prepare(request_, device_, compiler_, &objects);
    ASSERT_TRUE(candidate.ok()) << candidate.status().message();
    ASSERT_TRUE(candidate->ended);
    EXPECT_EQ(candidate->ended->kind, kind);
    EXPECT_EQ(candidate->ended->stage, stage);
    EXPECT_NE(candidate->ended->reason.find(words), std::string::npos) << candidate->ended->reason;
  }
  FakeObjectCompiler objects_;
};

TEST_F(PrepareFreeFormTest, NeedsACompilerOfObjects) {
  EXPECT_EQ(Prepare(request_, device_, compiler_).status().code(), StatusCode::kUnavailable);
}

TEST_F(PrepareFreeFormTest, PythonIsIllegalAndNeverCompiled) {
  request_.subject = FreeForm{"kernel.py", "import triton\n@triton.jit\ndef gemm(a):\n"};
  ExpectEnd(objects_, OutcomeKind::kIllegal, "check", "Python");
  EXPECT_EQ(objects_.calls, 0);
}

TEST_F(PrepareFreeFormTest, ACompilersErrorIsTheReason) {
  objects_.compilation.log = "kernel.cu(3): warning: x\nkernel.cu(7): error: no such thing\n";
  ExpectEnd(objects_, OutcomeKind::kCompileFailed, "compile", "kernel.cu(7): error");
  EXPECT_EQ(objects_.last_architecture, "sm_90a");
}

TEST_F(PrepareFreeFormTest, TheObjectSaysWhatItComputes) {
  Build("extern \"C\" { extern const char gemmsmith_descriptor_v1[] = \"gemm nn f16 f32\"; int gemm() { return 1; } }");
  ExpectEnd(objects_, OutcomeKind::kIllegal, "check", "the layout is nn");
  Build("extern \"C\" int gemm() { return 1; }");
  ExpectEnd(objects_, OutcomeKind::kIllegal, "check", "no descriptor");
  Build("extern \"C\" { extern const char gemmsmith_descriptor_v1[] = \"gemm tn f16 f32\"; }");
  ExpectEnd(objects_, OutcomeKind::kIllegal, "check", "no function gemm");
}

TEST_F(PrepareFreeFormTest, WhoReachesForOtherThingsHasCheated) {
  Build(
      "#include <unistd.h>\nextern \"C\" { extern const char gemmsmith_descriptor_v1[] = \"gemm tn f16 f32\";\n"
      "int gemm() { return fork(); } }");
  ExpectEnd(objects_, OutcomeKind::kCheated, "screening", "imports fork");
}

// A kernel of one matrix instruction, and of an array that lives in local memory.
std::string FreeFormWith(std::string_view instruction) {
  return kFreeForm +
         "__global__ void kernel(unsigned* p) {\n  unsigned d[4] = {}, x[40]; float f[4] = {};\n"
         "  for (int i = 0; i < 40; ++i) x[p[i] % 40] = p[i];\n  asm volatile(" +
         std::string(instruction) + ");\n  for (int i = 0; i < 4; ++i) p[i] = d[i] + f[i] + x[p[99] % 40];\n}\n" + R"(
extern "C" cudaError_t gemm(const void*, const void*, void* c, int, int, int, void*, size_t, cudaStream_t stream) {
  kernel<<<1, 32, 0, stream>>>((unsigned*)c);
  return cudaGetLastError();
})";
}

TEST_F(PrepareFreeFormTest, HonestSourcesGoOnAndNarrowSumsAreWrong) {
  Result<std::unique_ptr<ObjectCompiler>> nvcc = MakeObjectCompiler();
  if (!nvcc.ok()) GTEST_SKIP() << nvcc.status().message();
  request_.subject = FreeForm{
      "wide.cu",
      FreeFormWith(R"("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%4,%5},"
               "{%0,%1,%2,%3};" : "+f"(f[0]), "+f"(f[1]), "+f"(f[2]), "+f"(f[3])
               : "r"(d[0]), "r"(d[1]), "r"(d[2]), "r"(d[3]))")};
  const Result<PreparedCandidate> candidate = Prepare(request_, device_, compiler_, nvcc->get());
  ASSERT_TRUE(candidate.ok()) << candidate.status().message();
  EXPECT_FALSE(candidate->ended) << candidate->ended->reason;
  ASSERT_TRUE(candidate->object);
  EXPECT_EQ(candidate->object->kernels, std::vector<std::string>{"_Z6kernelPj"});
  EXPECT_EQ(candidate->compilation.binary.facts.mma_f32, 1);
  EXPECT_GT(candidate->compilation.binary.facts.local_memory_instructions, 0);

  request_.subject = FreeForm{
      "narrow.cu", FreeFormWith(R"("mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16 {%0,%1}, {%0,%1,%2,%3}, {%0,%1},"
               "{%0,%1};" : "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3]))")};
  ExpectEnd(**nvcc, OutcomeKind::kWrong, "resources", "1 matrix instructions accumulate in f16");
}

}  // namespace
}  // namespace gemmsmith
