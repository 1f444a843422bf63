// Sources on a GPU, by recipes made here: the honest are measured, alone and beside plans; each fault ends as what it
// is. tests/broken_kernels holds the full collection, with host code.
#include <gtest/gtest.h>

#include <cstring>
#include <map>

#include "evaluate/gpu_test_fixtures.h"
#include "program/emit.h"

namespace gemmsmith {
namespace {

const Gemm kSourceGemm{{208, 176, 96}, {kTn}};

// One thread an element. `first` runs before the product is made, `then` before it is written.
std::string KernelText(const std::string& first, const std::string& then) {
  return R"CUDA(
typedef unsigned short u16;
__device__ float Wide(u16 bits) {
  float value;
  asm("cvt.f32.f16 %0, %1;" : "=f"(value) : "h"(bits));
  return value;
}
__device__ u16 Narrow(float value) {
  u16 bits;
  asm("cvt.rn.f16.f32 %0, %1;" : "=h"(bits) : "f"(value));
  return bits;
}
extern "C" __global__ void multiply(const u16* a, const u16* b, u16* c, u16* workspace, int m, int n, int k) {
  const int row = blockIdx.y * 16 + threadIdx.y, column = blockIdx.x * 16 + threadIdx.x;
  if (row >= m || column >= n) return;
  u16* const to = c + (long long)row * n + column;
)CUDA" + first +
         R"CUDA(
  float sum = 0;
  for (int i = 0; i < k; ++i) sum += Wide(a[(long long)row * k + i]) * Wide(b[(long long)column * k + i]);
)CUDA" + then +
         R"CUDA(
  *to = Narrow(sum);
}
)CUDA";
}

Recipe RecipeFor(const Shape& shape, bool uses_workspace = false) {
  KernelStep step;
  step.kernel = "multiply";
  step.block = {16, 16, 1};
  step.grid = {uint32_t(shape.n + 15) / 16, uint32_t(shape.m + 15) / 16, 1};
  step.parameters.resize(44);
  step.addresses = {{0, {CallOperand::kA, 0}}, {8, {CallOperand::kB, 0}}, {16, {CallOperand::kC, 0}}};
  if (uses_workspace) step.addresses.push_back({24, {CallOperand::kWorkspace, 0}});
  const int numbers[] = {shape.m, shape.n, shape.k};
  std::memcpy(step.parameters.data() + 32, numbers, sizeof numbers);
  Recipe recipe;
  recipe.steps = {step};
  return recipe;
}

Shape HalfOf(const Shape& shape) { return {shape.m / 2, shape.n / 2, shape.k / 2}; }

class SourceGpuTest : public TestWithWorker {
 protected:
  static void SetUpTestSuite() { StartWorker({.candidate_limit_seconds = 20}); }

  static Candidate MakeSource(const std::string& first = "", const std::string& then = "") {
    Candidate candidate;
    candidate.request.gemm = kSourceGemm;
    candidate.request.baselines = *BaselineSet::Parse("lt_heuristic");
    candidate.request.subject = FreeForm{"some.cu", "text"};
    const Result<Compilation> compiled =
        compiler_->Compile({KernelText(first, then), "multiply"}, evaluator_->device().Architecture());
    EXPECT_TRUE(compiled.ok() && compiled->succeeded) << (compiled.ok() ? compiled->log : compiled.status().message());
    if (!compiled.ok()) return candidate;
    candidate.prepared.compilation = *compiled;
    PreparedSource& source = candidate.prepared.source.emplace();
    source.cubins = {compiled->binary.cubin};
    source.recipe = RecipeFor(kSourceGemm.shape);
    source.half_shape = HalfOf(kSourceGemm.shape);
    source.half_recipe = RecipeFor(source.half_shape);
    return candidate;
  }
  static KernelStep& KernelOf(Candidate& candidate) {
    return std::get<KernelStep>(candidate.prepared.source->recipe.steps.back());
  }
  static Outcome Judge(const Candidate& candidate) {
    const Result<Outcome> outcome = evaluator_->Evaluate(candidate.request, candidate.prepared);
    EXPECT_TRUE(outcome.ok()) << outcome.status().message();
    return outcome.ok() ? *outcome : Outcome{};
  }
};

TEST_F(SourceGpuTest, AnHonestSourceIsMeasuredOnTheRingAlone) {
  const Candidate candidate = MakeSource();
  const Outcome outcome = Judge(candidate);
  ASSERT_EQ(outcome.kind, OutcomeKind::kMeasured) << outcome.stage << ": " << outcome.reason;
  EXPECT_NE(outcome.Find("ours", Clock::kDeviceCold), nullptr);
  EXPECT_EQ(outcome.Find("ours", Clock::kDevice), nullptr);
  EXPECT_EQ(outcome.Find("ours", Clock::kDeviceChained), nullptr);
  EXPECT_EQ(*ParseRecipe(outcome.recipe), candidate.prepared.source->recipe);
}

TEST_F(SourceGpuTest, AMemsetAheadOfTheKernelIsPartOfTheCall) {
  Candidate candidate = MakeSource("if (*to != 0x0101) return;");
  EXPECT_EQ(Judge(candidate).kind, OutcomeKind::kWrong);
  auto& steps = candidate.prepared.source->recipe.steps;
  const auto bytes = uint64_t(kSourceGemm.shape.m) * uint64_t(kSourceGemm.shape.n) * 2;
  steps.insert(steps.begin(), MemsetStep{{CallOperand::kC, 0}, 1, bytes});
  candidate.prepared.source->half_recipe.reset();
  const Outcome outcome = Judge(candidate);
  EXPECT_EQ(outcome.kind, OutcomeKind::kMeasured) << outcome.reason;
}

TEST_F(SourceGpuTest, AFirstProgrammaticEdgeIsHonestIfTheKernelWaits) {
  Candidate candidate = MakeSource("asm volatile(\"griddepcontrol.wait;\" ::: \"memory\");");
  if (evaluator_->device().compute_major < 9) GTEST_SKIP() << "no programmatic edges";
  KernelOf(candidate).is_programmatic = true;
  const Outcome outcome = Judge(candidate);
  EXPECT_EQ(outcome.kind, OutcomeKind::kMeasured) << outcome.reason;
}

TEST_F(SourceGpuTest, AKernelThatReadsBeforeItWaitsIsWrong) {
  Candidate candidate = MakeSource("", "asm volatile(\"griddepcontrol.wait;\" ::: \"memory\");");
  if (evaluator_->device().compute_major < 9) GTEST_SKIP() << "no programmatic edges";
  KernelOf(candidate).is_programmatic = true;
  const Outcome outcome = Judge(candidate);
  EXPECT_EQ(outcome.kind, OutcomeKind::kWrong) << outcome.reason;
  EXPECT_EQ(outcome.verdict.test, "chain");
}

TEST_F(SourceGpuTest, AWrongHalfShapeIsWrong) {
  Candidate candidate = MakeSource();
  candidate.prepared.source->half_recipe = RecipeFor({64, 64, 48});
  const Outcome outcome = Judge(candidate);
  EXPECT_EQ(outcome.kind, OutcomeKind::kWrong) << outcome.reason;
  EXPECT_EQ(outcome.verdict.test, "half_shape");
}

TEST_F(SourceGpuTest, SourcesAndPlansAreJudgedInOneList) {
  Candidate plan;
  plan.request = MakeSource().request;
  plan.request.subject = RankedPlans(kSourceGemm, evaluator_->device(), 1).at(0);
  Result<PreparedCandidate> prepared = Prepare(plan.request, evaluator_->device(), *compiler_);
  ASSERT_TRUE(prepared.ok() && !prepared->ended);
  plan.prepared = *std::move(prepared);
  const std::vector<Candidate> list = {plan, MakeSource(), MakeSource("return;"), MakeSource()};
  std::vector<OutcomeKind> kinds;
  for (const Result<Outcome>& outcome : evaluator_->EvaluateTogether(list)) {
    ASSERT_TRUE(outcome.ok()) << outcome.status().message();
    kinds.push_back(outcome->kind);
  }
  using enum OutcomeKind;
  EXPECT_EQ(kinds, (std::vector{kMeasured, kMeasured, kWrong, kMeasured}));
}

// The slower half of a heat drops out after five rounds, whoever is in it.
TEST_F(SourceGpuTest, SourcesRaceInHeatsAsPlansDo) {
  std::vector<Candidate> list(16, MakeSource());
  for (Candidate& candidate : list) {
    candidate.request.protocol = Protocol::kHeat;
    candidate.request.baselines = *BaselineSet::Parse("lt_auto");
  }
  std::map<int, int> by_samples;
  for (const Result<Outcome>& outcome : evaluator_->EvaluateTogether(list)) {
    ASSERT_TRUE(outcome.ok()) << outcome.status().message();
    ASSERT_EQ(outcome->kind, OutcomeKind::kMeasured) << outcome->stage << ": " << outcome->reason;
    ++by_samples[outcome->Ours()->sample_count];
  }
  EXPECT_EQ(by_samples, (std::map<int, int>{{5, 8}, {15, 8}}));
}

TEST_F(SourceGpuTest, ScreeningSourcesReportsItsRate) {
  std::vector<Candidate> list(64, MakeSource());
  for (Candidate& candidate : list) {
    candidate.request.protocol = Protocol::kScreen;
    candidate.request.baselines = *BaselineSet::Parse("lt_auto");
  }
  (void)Judge(list[0]);  // makes the session
  double seconds = 0;
  for (const Result<Outcome>& outcome : evaluator_->EvaluateTogether(list)) {
    ASSERT_TRUE(outcome.ok() && outcome->kind == OutcomeKind::kMeasured) << outcome.status().message();
    seconds += outcome->evaluate_seconds;
  }
  fmt::print("screen: {:.4f} s of the GPU a source\n", seconds / double(list.size()));
  RecordProperty("seconds_per_screened_source", std::to_string(seconds / double(list.size())));
}

TEST_F(SourceGpuTest, AMissingKernelIsALaunchThatFailed) {
  Candidate candidate = MakeSource();
  KernelOf(candidate).kernel = "divide";
  const Outcome outcome = Judge(candidate);
  EXPECT_EQ(outcome.kind, OutcomeKind::kLaunchFailed);
  EXPECT_EQ(outcome.reason, "no kernel 'divide' in the machine code");
}

struct Liar {
  const char* name;
  OutcomeKind kind;
  const char* reason;  // part of it
  const char* first;
};
void PrintTo(const Liar& liar, std::ostream* stream) { *stream << liar.name; }
std::string NameOf(const testing::TestParamInfo<Liar>& liar) { return liar.param.name; }

class LyingSource : public SourceGpuTest, public testing::WithParamInterface<Liar> {};

TEST_P(LyingSource, EndsAsWhatItIsAndTheNextOneIsJudged) {
  Candidate candidate = MakeSource(GetParam().first);
  candidate.prepared.source->recipe = RecipeFor(kSourceGemm.shape, true);
  const Outcome outcome = Judge(candidate);
  EXPECT_EQ(outcome.kind, GetParam().kind) << outcome.reason;
  EXPECT_NE(outcome.reason.find(GetParam().reason), std::string::npos) << outcome.reason;
  const Outcome next = Judge(MakeSource());
  EXPECT_EQ(next.kind, OutcomeKind::kMeasured) << next.reason;
}

INSTANTIATE_TEST_SUITE_P(
    , LyingSource,
    testing::Values(
        Liar{"wants_more_alignment", OutcomeKind::kWrong, "test unaligned",
             "if ((unsigned long long)b % 32 != 0) return;"},
        Liar{"reads_behind_b", OutcomeKind::kLaunchFailed, "test unaligned: writes A or B, or goes beyond a matrix: ",
             "if (*(const volatile u16*)(b + (long long)n * k + 256) == 1) return;"},
        Liar{"borrows_the_element_behind_c", OutcomeKind::kLaunchFailed,
             "test fenced: writes A or B, or goes beyond a matrix: ",
             "if (row + column == 0) {"
             "  volatile u16* const behind = c + (long long)m * n;"
             "  const u16 old = *behind;"
             "  *behind = 1;"
             "  *behind = old;"
             "}"},
        Liar{"borrows_an_element_of_a", OutcomeKind::kLaunchFailed,
             "test unaligned: writes A or B, or goes beyond a matrix: ",
             "if (row + column == 0) *(volatile u16*)a = *(const volatile u16*)a;"},
        Liar{"writes_behind_c", OutcomeKind::kCheated, "outside C",
             "if (row + column == 0) c[(long long)m * n + 3] = 7;"},
        Liar{"works_for_poison_only", OutcomeKind::kWrong, "test prior_output", "if (*to != 0x7fff) return;"},
        Liar{"works_beside_the_constant_only", OutcomeKind::kWrong, "test unaligned", "if (a[-1] != 0xffa5) return;"},
        Liar{"leaves_the_workspace_dirty", OutcomeKind::kCheated, "the workspace was left with",
             "if (row + column == 0) workspace[4] = 1;"},
        Liar{"writes_to_a", OutcomeKind::kCheated, "A was modified",
             // Another zero, which changes no sum.
             "if (row + column == 0) for (int i = 0; i < k; ++i) if (a[i] == 0) ((u16*)a)[i] = 0x8000;"},
        Liar{"never_ends", OutcomeKind::kTimedOut, "step 'test", "while (true) __nanosleep(1000);"}),
    NameOf);

}  // namespace
}  // namespace gemmsmith
