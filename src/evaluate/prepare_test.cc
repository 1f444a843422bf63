#include <gtest/gtest.h>

#include "evaluate/evaluator.h"

namespace gemmsmith {
namespace {

// Answers with what a test wants to have been compiled.
class FakeCompiler : public Compiler {
 public:
  Result<Compilation> Compile(const Source& source, std::string_view architecture) override {
    ++calls;
    last_source = source;
    last_architecture = architecture;
    if (!world.ok()) return world;
    return compilation;
  }
  std::string Identity() const override { return "fake"; }

  Compilation compilation;
  Status world;
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
  compiler_.world = Unavailable("no libnvrtc");
  EXPECT_EQ(Prepare(request_, device_, compiler_).status().code(), StatusCode::kUnavailable);
}

}  // namespace
}  // namespace gemmsmith
