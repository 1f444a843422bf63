// The whole evaluator on a GPU: honest plans pass, broken kernels end as what they are, and the next one works.
#include "evaluate/evaluator.h"

#include <gtest/gtest.h>

#include <chrono>
#include <map>
#include <set>
#include <thread>

#include "base/all_cores.h"
#include "base/files.h"
#include "base/random.h"
#include "evaluate/gpu_test_fixtures.h"
#include "program/covering.h"
#include "program/family.h"
#include "program/legality.h"
#include "program/space.h"

namespace gemmsmith {
namespace {

constexpr double kLimitSeconds = 3;

class EvaluatorGpuTest : public TestWithWorker {
 protected:
  static void SetUpTestSuite() { StartWorker({.candidate_limit_seconds = kLimitSeconds}); }

  static Outcome Evaluate(const EvaluationRequest& request) {
    const Result<PreparedCandidate> candidate = Prepare(request, evaluator_->device(), *compiler_);
    EXPECT_TRUE(candidate.ok()) << candidate.status().message();
    return candidate.ok() ? Judge(request, *candidate) : Outcome{};
  }
  static std::vector<Outcome> JudgeTogether(const std::vector<Candidate>& candidates) {
    std::vector<Outcome> outcomes;
    for (Result<Outcome>& outcome : evaluator_->EvaluateTogether(candidates)) {
      EXPECT_TRUE(outcome.ok()) << outcome.status().message();
      outcomes.push_back(outcome.ok() ? *std::move(outcome) : Outcome{});
    }
    return outcomes;
  }
  // Compiled on every core.
  static std::vector<Candidate> CandidatesFor(const std::vector<EvaluationRequest>& requests) {
    std::vector<Candidate> candidates(requests.size());
    ForEachOnAllCores(requests.size(), [&](size_t at) { candidates[at] = CandidateFor(requests[at]); });
    return candidates;
  }
  static Candidate CandidateFor(const EvaluationRequest& request) {
    Result<PreparedCandidate> candidate = Prepare(request, evaluator_->device(), *compiler_);
    EXPECT_TRUE(candidate.ok()) << candidate.status().message();
    return {request, candidate.ok() ? *std::move(candidate) : PreparedCandidate{.ended = Outcome{}}};
  }
};

EvaluationRequest Request(const Gemm& gemm) {
  EvaluationRequest request;
  request.gemm = gemm;
  request.subject = DefaultPlan(FamilyId::kDirect);
  request.seed = 11;
  return request;
}

TEST_F(EvaluatorGpuTest, AScreenedPlanIsTimedAgainstBothAutoTunings) {
  const Outcome outcome = Evaluate(Request({{256, 256, 512}, {kTn}}));
  ASSERT_EQ(outcome.kind, OutcomeKind::kMeasured) << outcome.stage << ": " << outcome.reason;
  EXPECT_TRUE(outcome.verdict.passed);
  EXPECT_GT(outcome.verdict.max_abs_error, 0);
  EXPECT_GT(outcome.TimeNs(), 500);
  for (const char* name : {"lt_auto_nn", "lt_auto_tn"})
    EXPECT_NE(outcome.Find(name, Clock::kDeviceCold), nullptr) << name;
  EXPECT_EQ(outcome.comparisons.size(), 2u);
}

TEST_F(EvaluatorGpuTest, APlanForAColumnMajorARacesAgainstTheLibrariesInItsLayout) {
  for (const Layout& layout : {kColumnRow, kColumnColumn}) {
    EvaluationRequest request = Request({{512, 768, 1024}, {layout}});
    request.subject = *ParsePlan("wgmma tile_m=64 tile_n=64 warpgroups=1 store=tma trigger=late");
    request.protocol = Protocol::kShort;
    for (const Clock clock : {Clock::kDeviceCold, Clock::kDevice, Clock::kOffline, Clock::kServer})
      request.clocks.Add(clock);
    const Outcome outcome = Evaluate(request);
    ASSERT_EQ(outcome.kind, OutcomeKind::kMeasured) << outcome.stage << ": " << outcome.reason;
    for (const char* family : {"lt_auto", "lt_heuristic", "cublas"})
      for (const Clock clock : {Clock::kDeviceCold, Clock::kDevice, Clock::kOffline, Clock::kServer})
        EXPECT_NE(outcome.Find(fmt::format("{}_{}", family, Name(layout)), clock), nullptr) << family << Name(clock);
    EXPECT_EQ(outcome.baseline_algorithms.size(), 3u);
    EXPECT_GT(outcome.verdict.baseline_max_abs_error, 0);
  }
}

TEST_F(EvaluatorGpuTest, TheShortProtocolTimesAllSevenContendersOnEveryClock) {
  for (ScalarType type : {ScalarType::kF16, ScalarType::kBf16}) {
    EvaluationRequest request = Request({{512, 512, 512}, {kNn, type}});
    request.protocol = Protocol::kShort;
    const std::vector<Clock> clocks = {Clock::kDevice, Clock::kDeviceCold, Clock::kOffline, Clock::kServer,
                                       Clock::kHost};
    for (const Clock clock : clocks) request.clocks.Add(clock);
    const Outcome outcome = Evaluate(request);
    ASSERT_EQ(outcome.kind, OutcomeKind::kMeasured) << outcome.stage << ": " << outcome.reason;
    for (const Clock clock : clocks)
      for (const char* name :
           {"ours", "lt_auto_nn", "lt_auto_tn", "lt_heuristic_nn", "lt_heuristic_tn", "cublas_nn", "cublas_tn"})
        EXPECT_NE(outcome.Find(name, clock), nullptr) << name << " " << Name(clock);
    EXPECT_EQ(outcome.baseline_algorithms.size(), 6u);
    EXPECT_GT(outcome.verdict.baseline_max_abs_error, 0);
    for (const auto& [name, algorithm] : outcome.baseline_algorithms)
      EXPECT_EQ(algorithm.find("refused"), std::string::npos) << name << ": " << algorithm;
  }
}

// ---- every live value of every axis on 60 shapes

// Every class of the paper's grid, shapes that no tile divides, and shapes of odd leading dimensions.
std::vector<Shape> CoveringShapes() {
  std::vector<Shape> shapes = {{1, 1, 1},          {17, 31, 63},       {300, 3584, 460},  {1, 4096, 4096},
                               {7, 1, 4096},       {1, 1, 16384},      {3, 5, 7},         {16, 8, 32},
                               {15, 9, 33},        {33, 129, 257},     {127, 255, 511},   {129, 65, 1023},
                               {4097, 3, 130},     {2, 8191, 66},      {100, 200, 300},   {1000, 1032, 264},
                               {200, 2048, 1032},  {333, 328, 1000},   {72, 136, 72},     {300, 3584, 456},
                               {1025, 1000, 520},  {96, 4104, 712},    {65, 72, 8200},    {191, 2056, 136},
                               {4096, 4096, 4096}, {2048, 8192, 2048}, {8192, 512, 8192}, {64, 16384, 64},
                               {64, 16384, 8192},  {8192, 128, 4096},  {128, 8192, 4096}, {2048, 2048, 2048},
                               {4096, 1024, 4096}, {4096, 4096, 64},   {2048, 8192, 256}, {12288, 1024, 128}};
  for (int m : {64, 512, 1024})
    for (int n : {64, 256, 1024})
      for (int k : {64, 1024}) shapes.push_back({m, n, k});
  for (int k : {512, 4096, 8192, 12288, 16384}) shapes.push_back({64, 128, k});
  shapes.push_back({256, 256, 12288});
  return shapes;
}

// The problems that the plans come from. Each plan is worth trying for one of them.
const std::vector<Gemm>& HomesOfCoveringPlans() {
  static const std::vector<Gemm> homes = {{{64, 128, 16384}}, {{1024, 1024, 1024}, {kNn}}, {{4096, 1024, 4096}}};
  return homes;
}
bool IsHome(const Shape& shape) {
  return std::any_of(HomesOfCoveringPlans().begin(), HomesOfCoveringPlans().end(),
                     [&](const Gemm& home) { return home.shape == shape; });
}

// Every plan is legal in its own home's layout. Some are not in the other one.
bool IsLegalAtAHome(const Plan& plan, const GemmKind& kind, const Device& device) {
  return std::any_of(HomesOfCoveringPlans().begin(), HomesOfCoveringPlans().end(),
                     [&](const Gemm& home) { return IsLegal(plan, {.shape = home.shape, .kind = kind}, device); });
}

// Streamed operands, copied alone and for a cluster. They are worth trying at no home, because L2 holds the operands.
const std::set<Plan>& PlansOfLongOperands() {
  static const std::set<Plan> plans = {
      *ParsePlan("wgmma tile_m=64 tile_n=128 warpgroups=1 stages=6 stream=b"),
      *ParsePlan("wgmma tile_m=64 tile_n=64 warpgroups=1 step_k=128 stages=6 stream=b store=tma"),
      *ParsePlan("wgmma tile_m=64 tile_n=128 warpgroups=1 stages=5 stream=a"),
      *ParsePlan("wgmma tile_n=64 stages=5 cluster_n=2 stream=a"),
      *ParsePlan("wgmma tile_m=64 tile_n=192 warpgroups=1 stages=5 cluster_m=2 stream=b")};
  return plans;
}

// Fixed dimensions make a kernel of their own for every shape. One plan of six keeps them.
std::vector<Plan> CoveringPlansOfAllShapes(const Device& device) {
  std::set<Plan> plans;
  for (const Gemm& gemm : HomesOfCoveringPlans()) {
    const std::vector<Plan> covering = CoveringPlans(gemm, device, 2);
    for (size_t i = 0; i < covering.size(); ++i) {
      plans.insert(i % 6 == 0 ? covering[i] : WithFixed(covering[i], FixedDimensions::kNone));
    }
  }
  plans.insert(PlansOfLongOperands().begin(), PlansOfLongOperands().end());
  return {plans.begin(), plans.end()};
}

// In the short protocol, without times.
std::vector<EvaluationRequest> RequestsFor(const Gemm& gemm, const std::vector<Plan>& plans) {
  std::vector<EvaluationRequest> requests;
  for (const Plan& plan : plans) {
    requests.push_back(Request(gemm));
    requests.back().subject = plan;
    requests.back().protocol = Protocol::kShort;
    requests.back().time = false;
  }
  return requests;
}

bool IsRightOrCannotRun(const Outcome& outcome) {
  return outcome.kind == OutcomeKind::kVerified || outcome.kind == OutcomeKind::kIllegal ||
         outcome.kind == OutcomeKind::kResourceOver;
}

const std::vector<GemmKind> kKinds = {{kNn, ScalarType::kF16},        {kTn, ScalarType::kF16},
                                      {kNn, ScalarType::kBf16},       {kTn, ScalarType::kBf16},
                                      {kColumnRow, ScalarType::kF16}, {kColumnColumn, ScalarType::kBf16}};

// A test each kind of problem, so that several GPUs can share them.
class CoveringSet : public EvaluatorGpuTest, public testing::WithParamInterface<size_t> {};

// Every plan meets every shape; the kinds of problem alternate, and at home all of them have one.
TEST_P(CoveringSet, IsRightOnSixtyShapes) {
  const size_t kind = GetParam();
  const std::vector<Plan> plans = CoveringPlansOfAllShapes(evaluator_->device());
  const std::vector<Shape> shapes = CoveringShapes();
  ASSERT_EQ(shapes.size(), 60u);
  std::map<std::pair<FamilyId, OutcomeKind>, int> counts;
  std::set<Plan> legal, verified;
  for (size_t s = 0; s < shapes.size(); ++s) {
    std::vector<Plan> due;
    for (size_t p = 0; p < plans.size(); ++p)
      if ((s + kind + p) % kKinds.size() == 0 || IsHome(shapes[s]) || PlansOfLongOperands().contains(plans[p]))
        due.push_back(plans[p]);
    const std::vector<Candidate> candidates = CandidatesFor(RequestsFor({shapes[s], kKinds[kind]}, due));
    const std::vector<Outcome> outcomes = JudgeTogether(candidates);
    for (size_t i = 0; i < candidates.size(); ++i) {
      const EvaluationRequest& request = candidates[i].request;
      const Outcome& outcome = outcomes[i];
      ++counts[{request.plan().family, outcome.kind}];
      if (outcome.kind != OutcomeKind::kIllegal) legal.insert(request.plan());
      if (outcome.kind == OutcomeKind::kVerified) verified.insert(request.plan());
      EXPECT_TRUE(IsRightOrCannotRun(outcome))
          << Print(request.gemm) << " | " << Print(request.plan()) << " | " << outcome.stage << ": " << outcome.reason;
    }
  }
  for (const auto& [key, count] : counts) fmt::print("{} {} {}\n", count, GetFamily(key.first).name, Name(key.second));
  for (const Plan& plan : legal) EXPECT_TRUE(verified.contains(plan)) << Print(plan) << " was never verified";
  for (const Plan& plan : plans) {
    const bool must_be_legal =
        PlansOfLongOperands().contains(plan) || IsLegalAtAHome(plan, kKinds[kind], evaluator_->device());
    EXPECT_TRUE(legal.contains(plan) || !must_be_legal) << Print(plan) << " was never legal";
  }
}

std::string NameOfKind(const testing::TestParamInfo<size_t>& kind) {
  const GemmKind& of = kKinds[kind.param];
  std::string name = fmt::format("{}_{}", Name(of.layout), Name(of.type));
  std::ranges::replace(name, '-', '_');  // no test may have one in its name
  return name;
}
INSTANTIATE_TEST_SUITE_P(Kind, CoveringSet, testing::Range(size_t{0}, kKinds.size()), NameOfKind);

// Where each plan is legal, and on shapes that no tile divides.
TEST_F(EvaluatorGpuTest, ACoveringSetOfPlansIsRightWhereSumsAreF16) {
  std::vector<Plan> plans = CoveringPlansOfAllShapes(evaluator_->device());
  std::erase_if(plans, [](const Plan& plan) { return PlansOfLongOperands().contains(plan); });
  std::vector<Gemm> gemms = HomesOfCoveringPlans();
  gemms.insert(gemms.end(), {{{300, 3584, 456}}, {{333, 328, 1000}, {kNn}}, {{17, 31, 63}}});
  std::set<Plan> verified;
  for (Gemm& gemm : gemms) {
    gemm.kind.accumulation = Accumulation::kF16;
    const std::vector<Candidate> candidates = CandidatesFor(RequestsFor(gemm, plans));
    const std::vector<Outcome> outcomes = JudgeTogether(candidates);
    for (size_t i = 0; i < candidates.size(); ++i) {
      EXPECT_TRUE(IsRightOrCannotRun(outcomes[i]))
          << Print(gemm) << " | " << Print(plans[i]) << " | " << outcomes[i].stage << ": " << outcomes[i].reason;
      if (outcomes[i].kind == OutcomeKind::kVerified) verified.insert(plans[i]);
    }
  }
  for (const Plan& plan : plans) EXPECT_TRUE(verified.contains(plan)) << Print(plan) << " was never verified";
}

TEST_F(EvaluatorGpuTest, LeadingDimensionsWithGapsAreRight) {
  Gemm gemm{{100, 72, 130}, {kTn}};
  gemm.lda = 133, gemm.ldb = 136, gemm.ldc = 75;
  const Outcome outcome = Evaluate(Request(gemm));
  EXPECT_EQ(outcome.kind, OutcomeKind::kMeasured) << outcome.stage << ": " << outcome.reason;
}

// Five tiles along n make three clusters of two, three along m two: the last ones lie beyond C.
TEST_F(EvaluatorGpuTest, ClustersThatReachBeyondCStoreNothingThere) {
  for (const char* words :
       {"tile_m=192 cluster_m=1 cluster_n=2", "tile_m=128 cluster_m=2 cluster_n=1 store=tma",
        "tile_m=128 cluster_m=2 cluster_n=1 split=4 reduction=exchange", "tile_m=128 cluster_m=2 cluster_n=2 split=4",
        "tile_m=128 cluster_m=2 cluster_n=2 split=4 reduction=cluster",
        "tile_m=96 roles=swapped cluster_m=1 cluster_n=2 store=tma",
        "tile_m=128 roles=swapped cluster_m=2 cluster_n=1 split=4"}) {
    EvaluationRequest request = Request({{384, 320, 1920}, {kTn}});
    const Result<Plan> plan = ParsePlan(fmt::format("wgmma tile_n=64 warpgroups=1 stages=2 fixed=all {}", words));
    ASSERT_TRUE(plan.ok()) << plan.status().message();
    request.subject = *plan;
    const Outcome outcome = Evaluate(request);
    EXPECT_EQ(outcome.kind, OutcomeKind::kMeasured) << words << ": " << outcome.stage << ": " << outcome.reason;
  }
}

// ---- broken kernels
// ---------------------------------------------------------------------------------------------------

// A plain kernel for tn and f16 that works with any grid, with three places where it can be broken.
PreparedCandidate MakeCandidate(Compiler& compiler, const Device& device, const std::string& before,
                                const std::string& k_end, const std::string& each_step, const std::string& store,
                                const std::string& after) {
  constexpr std::string_view kText = R"(
typedef unsigned short u16;
struct GemmArguments {{ u16* a; u16* b; u16* c; unsigned* workspace; int m, n, k, lda, ldb, ldc; }};
__device__ float Wide(u16 bits) {{ float value; asm("cvt.f32.f16 %0, %1;" : "=f"(value) : "h"(bits)); return value; }}
__device__ u16 Narrow(float value) {{ u16 bits; asm("cvt.rn.f16.f32 %0, %1;" : "=h"(bits) : "f"(value)); return bits; }}
extern "C" __global__ void broken(const GemmArguments g) {{
  const long long block = blockIdx.x + (long long)gridDim.x * (blockIdx.y + (long long)gridDim.y * blockIdx.z);
  const int lane = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
  const int width = blockDim.x * blockDim.y * blockDim.z;
  const long long first = block * width + lane, step = (long long)gridDim.x * gridDim.y * gridDim.z * width;
  {before}
  for (long long i = first; i < (long long)g.m * g.n; i += step) {{
    const long long row = i / g.n, column = i % g.n;
    float sum = 0;
    for (int k = 0; k < {k_end}; ++k) {{
      sum += Wide(g.a[row * g.lda + k]) * Wide(g.b[column * g.ldb + k]);
      {each_step}
    }}
    u16* c = g.c + row * g.ldc + column;
    {store}
  }}
  {after}
}})";
  const std::string text =
      fmt::format(kText, fmt::arg("before", before), fmt::arg("k_end", k_end), fmt::arg("each_step", each_step),
                  fmt::arg("store", store), fmt::arg("after", after));
  Result<Compilation> compilation = compiler.Compile({text, "broken"}, device.Architecture());
  EXPECT_TRUE(compilation.ok() && compilation->succeeded) << (compilation.ok() ? compilation->log : "no compiler");
  PreparedCandidate candidate;
  if (compilation.ok()) candidate.compilation = *std::move(compilation);
  return candidate;
}

struct Broken {
  const char* name;
  std::set<OutcomeKind> ends;
  const char* reason;  // part of it
  const char* before = "";
  const char* k_end = "g.k";
  const char* each_step = "";
  const char* store = "*c = Narrow(sum);";
  const char* after = "";
};

EvaluationRequest BrokenRequest() {
  Gemm gemm{{48, 40, 1024}, {kTn}};
  gemm.ldc = 48;
  return Request(gemm);
}

class BrokenKernel : public EvaluatorGpuTest, public testing::WithParamInterface<Broken> {
 protected:
  static Outcome Run(const Broken& broken) {
    return Judge(BrokenRequest(), MakeCandidate(*compiler_, evaluator_->device(), broken.before, broken.k_end,
                                                broken.each_step, broken.store, broken.after));
  }
};

TEST_P(BrokenKernel, EndsAsWhatItIsAndTheNextOneWorks) {
  const Outcome outcome = Run(GetParam());
  EXPECT_TRUE(GetParam().ends.contains(outcome.kind))
      << Name(outcome.kind) << " " << outcome.stage << ": " << outcome.reason;
  EXPECT_NE(outcome.reason.find(GetParam().reason), std::string::npos) << outcome.reason;
  const Outcome honest = Run(Broken{"honest", {}, ""});
  EXPECT_EQ(honest.kind, OutcomeKind::kMeasured) << honest.stage << ": " << honest.reason;
}

constexpr OutcomeKind kLaunch = OutcomeKind::kLaunchFailed, kBad = OutcomeKind::kWrong, kCheat = OutcomeKind::kCheated;

INSTANTIATE_TEST_SUITE_P(
    Class, BrokenKernel,
    testing::Values(
        Broken{.name = "writes_nothing", .ends = {kBad}, .reason = "elements are wrong", .store = ""},
        Broken{.name = "writes_nan", .ends = {kBad}, .reason = "got nan", .store = "*c = 0x7e00;"},
        Broken{.name = "skips_the_last_k", .ends = {kBad}, .reason = "test binary", .k_end = "g.k - 1"},
        Broken{.name = "skips_one_element",
               .ends = {kBad},
               .reason = "1 of 1920 elements",
               .store = "if (row != 3 || column != 7) *c = Narrow(sum);"},
        Broken{.name = "accumulates_in_f16",
               .ends = {kBad},
               .reason = "test relative",
               .each_step = "if (k % 16 == 15) sum = Wide(Narrow(sum));"},
        Broken{.name = "rounds_towards_zero",
               .ends = {kBad},
               .reason = "test relative",
               .store = "u16 bits; asm(\"cvt.rz.f16.f32 %0, %1;\" : \"=h\"(bits) : \"f\"(sum)); *c = bits;"},
        Broken{.name = "writes_behind_c",
               .ends = {kCheat},
               .reason = "outside C",
               .after = "if (first == 0) g.c[(g.m - 1) * g.ldc + g.n] = 0;"},
        Broken{.name = "writes_before_c",
               .ends = {kCheat},
               .reason = "outside C",
               .after = "if (first == 0) g.c[-1] = 0;"},
        Broken{.name = "writes_between_rows",
               .ends = {kCheat},
               .reason = "outside C",
               .after = "if (first == 0) g.c[g.n] = 0;"},
        Broken{.name = "modifies_a",
               .ends = {kCheat, kBad},
               .reason = "A was modified",
               .after = "if (first == 0) g.a[0] ^= 1;"},
        Broken{.name = "modifies_b_behind_its_end",
               .ends = {kCheat},
               .reason = "outside B",
               .after = "if (first == 0) g.b[g.n * g.ldb] = 0;"},
        Broken{.name = "leaves_the_workspace_dirty",
               .ends = {kCheat},
               .reason = "workspace",
               .after = "if (first == 0) g.workspace[0] = 1;"},
        Broken{.name = "writes_behind_the_workspace",
               .ends = {kCheat},
               .reason = "workspace",
               .after = "if (first == 0) g.workspace[1000] = 0;"},
        Broken{.name = "bad_address", .ends = {kLaunch}, .reason = "CUDA_ERROR", .before = "*(volatile int*)8 = 1;"},
        Broken{.name = "misaligned_address",
               .ends = {kLaunch},
               .reason = "CUDA_ERROR",
               .before = "*(volatile long long*)((char*)g.c + 2) = 1;"},
        Broken{.name = "trap", .ends = {kLaunch}, .reason = "CUDA_ERROR", .before = "asm volatile(\"trap;\");"}),
    [](const testing::TestParamInfo<Broken>& broken) { return broken.param.name; });

TEST_F(EvaluatorGpuTest, AKernelThatNeverEndsIsKilledWithinItsLimitAndASecond) {
  const EvaluationRequest request = Request({{48, 40, 1024}, {kTn}});
  const auto candidate = [&](const char* before) {
    return MakeCandidate(*compiler_, evaluator_->device(), before, "g.k", "", "*c = Narrow(sum);", "");
  };
  const PreparedCandidate honest = candidate("");
  const PreparedCandidate endless = candidate("while (((volatile u16*)g.a)[0] != 0x1234) {}");
  ASSERT_EQ(Judge(request, honest).kind, OutcomeKind::kMeasured);
  const auto start = std::chrono::steady_clock::now();
  const Outcome outcome = Judge(request, endless);
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  EXPECT_EQ(outcome.kind, OutcomeKind::kTimedOut) << outcome.reason;
  EXPECT_LE(seconds, kLimitSeconds + 1);
  EXPECT_EQ(Judge(request, honest).kind, OutcomeKind::kMeasured);
}

// ---- several candidates together

std::vector<OutcomeKind> KindsOf(const std::vector<Outcome>& outcomes) {
  std::vector<OutcomeKind> kinds;
  for (const Outcome& outcome : outcomes) kinds.push_back(outcome.kind);
  return kinds;
}

TEST_F(EvaluatorGpuTest, ABrokenKernelInAListCostsNobodyElseAnOutcome) {
  const auto candidate = [&](const char* before, const char* store, const char* after = "") {
    return Candidate{BrokenRequest(), MakeCandidate(*compiler_, evaluator_->device(), before, "g.k", "", store, after)};
  };
  const char* const store = "*c = Narrow(sum);";
  const Candidate good = candidate("", store), wrong = candidate("", ""),
                  trap = candidate("asm volatile(\"trap;\");", store),
                  endless = candidate("while (((volatile u16*)g.a)[0] != 0x1234) {}", store),
                  greedy = candidate("", store, "if (first == 0) g.a[0] ^= 1;");
  constexpr OutcomeKind kGood = OutcomeKind::kMeasured;
  EXPECT_EQ(KindsOf(JudgeTogether({good, wrong, endless, good})),
            (std::vector{kGood, kBad, OutcomeKind::kTimedOut, kGood}));
  EXPECT_EQ(KindsOf(JudgeTogether({good, trap, wrong, good})), (std::vector{kGood, kLaunch, kBad, kGood}));
  // A is restored before the next candidate's turn.
  const std::vector<Outcome> outcomes = JudgeTogether({good, greedy, good, good});
  EXPECT_NE(outcomes[1].kind, kGood);
  for (const size_t i : {0, 2, 3})
    EXPECT_EQ(outcomes[i].kind, kGood) << outcomes[i].stage << ": " << outcomes[i].reason;
}

// The worker drops what it holds of other problems and makes it anew.
TEST_F(EvaluatorGpuTest, DamageToOneProblemLeavesTheOthersJudged) {
  const auto candidate = [&](const char* after) {
    return MakeCandidate(*compiler_, evaluator_->device(), "", "g.k", "", "*c = Narrow(sum);", after);
  };
  const PreparedCandidate good = candidate(""), greedy = candidate("if (first == 0) g.a[0] ^= 1;");
  const EvaluationRequest other = Request({{40, 48, 512}, {kTn}});
  const auto expect_measured = [&](const EvaluationRequest& request) {
    const Outcome outcome = Judge(request, good);
    EXPECT_EQ(outcome.kind, OutcomeKind::kMeasured) << outcome.stage << ": " << outcome.reason;
  };
  expect_measured(other);
  EXPECT_NE(Judge(BrokenRequest(), greedy).kind, OutcomeKind::kMeasured);
  expect_measured(BrokenRequest());
  expect_measured(other);
}

// Good in all tests, bad only in the race.
TEST_F(EvaluatorGpuTest, WhatGoesWrongInARaceCostsNobodyElseAnOutcomeEither) {
  const auto after_eight_calls = [&](const std::string& act) {
    const std::string before = "static unsigned calls; if (first == 0 && atomicAdd(&calls, 1u) > 8) " + act;
    return Candidate{BrokenRequest(),
                     MakeCandidate(*compiler_, evaluator_->device(), before, "g.k", "", "*c = Narrow(sum);", "")};
  };
  const Candidate good = after_eight_calls("{}"),
                  endless = after_eight_calls("while (((volatile u16*)g.a)[0] != 0x1234) {}"),
                  crashing = after_eight_calls("asm volatile(\"trap;\");"),
                  greedy = after_eight_calls("g.b[0] = 0x1234;");
  constexpr OutcomeKind kGood = OutcomeKind::kMeasured;
  const std::vector<Outcome> hung = JudgeTogether({good, endless, good});
  EXPECT_EQ(KindsOf(hung), (std::vector{kGood, OutcomeKind::kTimedOut, kGood}));
  EXPECT_NE(hung[1].reason.find("ring"), std::string::npos) << hung[1].reason;
  EXPECT_EQ(KindsOf(JudgeTogether({good, crashing, good})), (std::vector{kGood, kLaunch, kGood}));
  const std::vector<Outcome> modified = JudgeTogether({good, greedy, good});
  EXPECT_EQ(modified[0].kind, kGood) << modified[0].reason;
  EXPECT_NE(modified[1].kind, kGood);
  EXPECT_EQ(modified[2].kind, kGood) << modified[2].reason;
}

TEST_F(EvaluatorGpuTest, ThoseOfOneListShareTheirBaselinesSamples) {
  const Candidate candidate = CandidateFor(Request({{256, 256, 512}, {kTn}}));
  const std::vector<Outcome> outcomes = JudgeTogether({candidate, candidate, candidate});
  for (const Outcome& outcome : outcomes) {
    ASSERT_EQ(outcome.kind, OutcomeKind::kMeasured) << outcome.stage << ": " << outcome.reason;
    EXPECT_EQ(outcome.comparisons.size(), 2u);
    EXPECT_EQ(*outcome.Find("lt_auto_nn", Clock::kDeviceCold), *outcomes[0].Find("lt_auto_nn", Clock::kDeviceCold));
    EXPECT_NEAR(outcome.TimeNs() / outcomes[0].TimeNs(), 1, 0.05);
  }
}

TEST_F(EvaluatorGpuTest, PlansThatMayChainAreTimedOnBothClocks) {
  std::vector<Candidate> candidates;
  for (const char* text : {"direct", "direct warps_k=8", "wgmma", "wgmma split=2"})
    for (const char* trigger : {"early", "late", "last"}) {
      EvaluationRequest request = Request({{512, 512, 1024}, {kTn}});
      const Result<Plan> plan = ParsePlan(fmt::format("{} trigger={}", text, trigger));
      ASSERT_TRUE(plan.ok()) << plan.status().message();
      request.subject = *plan;
      request.clocks = {Clock::kDevice, Clock::kDeviceChained};
      candidates.push_back(CandidateFor(request));
    }
  const std::vector<Outcome> outcomes = JudgeTogether(candidates);
  for (size_t i = 0; i < outcomes.size(); ++i) {
    const Outcome& outcome = outcomes[i];
    const std::string plan = Print(candidates[i].request.plan());
    ASSERT_EQ(outcome.kind, OutcomeKind::kMeasured) << plan << ": " << outcome.stage << ": " << outcome.reason;
    const Timing* const chained = outcome.Find("ours", Clock::kDeviceChained);
    ASSERT_NE(chained, nullptr) << plan;
    fmt::print("{:.0f} ns, chained {:.0f} ns: {}\n", outcome.TimeNs(), chained->median_ns, plan);
    EXPECT_EQ(outcome.comparisons.size(), 4u) << plan;
    EXPECT_EQ(outcome.Find("lt_auto_tn", Clock::kDeviceChained), nullptr) << plan;
  }
}

TEST_F(EvaluatorGpuTest, PlansThatChainAreChainedOnTheRingTooAndStandAgainstPlainTimes) {
  EvaluationRequest request = Request({{512, 512, 1024}, {kTn}});
  request.clocks.Add(Clock::kDeviceColdChained);
  std::vector<Candidate> candidates;
  for (const char* trigger : {"none", "early", "late"}) {
    request.subject = *ParsePlan(fmt::format("wgmma schedule=cooperative tile_m=128 warpgroups=2 trigger={}", trigger));
    candidates.push_back(CandidateFor(request));
  }
  const std::vector<Outcome> outcomes = JudgeTogether(candidates);
  for (size_t i = 0; i < outcomes.size(); ++i) {
    const Outcome& outcome = outcomes[i];
    ASSERT_EQ(outcome.kind, OutcomeKind::kMeasured) << outcome.stage << ": " << outcome.reason;
    ASSERT_NE(outcome.Find("ours", Clock::kDeviceCold), nullptr) << outcome.reason;
    EXPECT_EQ(outcome.OursChained() != nullptr, i > 0);
    EXPECT_EQ(outcome.Find("lt_auto_tn", Clock::kDeviceColdChained), nullptr);
    EXPECT_EQ(outcome.TimeOver("lt_auto", Clock::kDeviceColdChained).has_value(), i > 0);
  }
}

TEST_F(EvaluatorGpuTest, AHeatLeavesFourWithTheMostSamples) {
  EvaluationRequest request = Request({{256, 256, 512}, {kTn}});
  request.protocol = Protocol::kHeat;
  const std::vector<Outcome> outcomes = JudgeTogether(std::vector<Candidate>(16, CandidateFor(request)));
  std::map<int, int> by_samples;
  for (const Outcome& outcome : outcomes) {
    ASSERT_EQ(outcome.kind, OutcomeKind::kMeasured) << outcome.stage << ": " << outcome.reason;
    ++by_samples[outcome.Ours()->sample_count];
  }
  EXPECT_EQ(by_samples, (std::map<int, int>{{5, 8}, {15, 8}}));
}

TEST_F(EvaluatorGpuTest, AHeatOfLongCallsHasNoWindowsAndNoChains) {
  EvaluationRequest request = Request({{8192, 8192, 4096}, {kTn}});
  request.subject = *ParsePlan("wgmma schedule=cooperative tile_m=256 tile_n=128 warpgroups=2 store=tma trigger=late");
  request.protocol = Protocol::kHeat;
  std::map<int, int> by_samples;
  for (const Outcome& outcome : JudgeTogether(std::vector<Candidate>(7, CandidateFor(request)))) {
    ASSERT_EQ(outcome.kind, OutcomeKind::kMeasured) << outcome.stage << ": " << outcome.reason;
    EXPECT_FALSE(outcome.conditions.in_steady_state);
    EXPECT_EQ(outcome.OursChained(), nullptr);
    ++by_samples[outcome.Ours()->sample_count];
  }
  EXPECT_EQ(by_samples, (std::map<int, int>{{5, 7}}));
}

TEST_F(EvaluatorGpuTest, BothLayoutsOfAProblemHaveTheSameBaselines) {
  const Outcome tn = Evaluate(Request({{384, 256, 512}, {kTn}})), nn = Evaluate(Request({{384, 256, 512}, {kNn}}));
  ASSERT_EQ(tn.kind, OutcomeKind::kMeasured) << tn.reason;
  ASSERT_EQ(nn.kind, OutcomeKind::kMeasured) << nn.reason;
  EXPECT_EQ(tn.baseline_algorithms, nn.baseline_algorithms);
}

TEST_F(EvaluatorGpuTest, LayoutsOfAProblemRaceTogetherAndEachIsGivenItsOwnOperands) {
  EvaluationRequest tn = Request({{384, 256, 512}, {kTn}}), nn = Request({{384, 256, 512}, {kNn}});
  tn.protocol = nn.protocol = Protocol::kShort;
  Candidate mistaken = CandidateFor(tn);  // reads B as tn has it
  mistaken.request = nn;
  const std::vector<Outcome> outcomes = JudgeTogether({CandidateFor(nn), CandidateFor(tn), mistaken});
  EXPECT_EQ(KindsOf(outcomes), (std::vector{OutcomeKind::kMeasured, OutcomeKind::kMeasured, OutcomeKind::kWrong}))
      << outcomes[0].reason << outcomes[1].reason;
  ASSERT_NE(outcomes[0].Find("lt_auto_nn", Clock::kDeviceCold), nullptr);
  EXPECT_EQ(*outcomes[0].Find("lt_auto_nn", Clock::kDeviceCold), *outcomes[1].Find("lt_auto_nn", Clock::kDeviceCold));
}

TEST_F(EvaluatorGpuTest, WhereAskedForSingleCallsAreTimedOfTheFastestOfEachLayout) {
  std::vector<EvaluationRequest> requests;
  for (const Layout& layout : {kNn, kTn})
    for (const char* tile : {"tile_m=16 tile_n=16", "tile_m=64 tile_n=64 warps_m=2 warps_n=2"}) {
      EvaluationRequest& request = requests.emplace_back(Request({{384, 256, 512}, {layout}}));
      request.subject = *ParsePlan(fmt::format("direct {}", tile));
      request.protocol = Protocol::kShort;
      request.clocks = {Clock::kDevice, Clock::kOffline};
      request.calls_of_fastest = true;
    }
  const std::vector<Outcome> outcomes = JudgeTogether(CandidatesFor(requests));
  for (size_t first = 0; first < outcomes.size(); first += 2) {
    const bool first_is_faster = outcomes[first].TimeNs() < outcomes[first + 1].TimeNs();
    const Outcome &faster = outcomes[first_is_faster ? first : first + 1],
                  &slower = outcomes[first_is_faster ? first + 1 : first];
    EXPECT_NE(faster.Find("ours", Clock::kOffline), nullptr) << first << faster.reason;
    EXPECT_EQ(slower.Find("ours", Clock::kOffline), nullptr) << first << slower.reason;
    EXPECT_NE(slower.Find("lt_auto_tn", Clock::kOffline), nullptr) << first;
  }
}

// Thorough tests may leave something in the worker's context. Every call took 0.17 us longer once a test had put one on
// another stream.
TEST_F(EvaluatorGpuTest, CallsTakeAsLongBehindThoroughTestsAsBeforeThem) {
  EvaluationRequest tiny = Request({{64, 64, 64}, {kTn}});
  tiny.protocol = Protocol::kShort;
  tiny.baselines = *BaselineSet::Parse("lt_auto_tn");
  tiny.clocks = {Clock::kDevice};
  const auto baseline_ns = [&] {
    const Result<Outcome> outcome = evaluator_->RaceBaselines(tiny);
    EXPECT_TRUE(outcome.ok()) << outcome.status().message();
    return outcome.ok() ? outcome->Find("lt_auto_tn", Clock::kDevice)->median_ns : 0;
  };
  const double before = baseline_ns();
  for (const int k : {512, 1024}) {
    std::vector<EvaluationRequest> requests;
    for (const char* tile :
         {"tile_m=64 tile_n=64", "tile_m=64 tile_n=128", "tile_m=128 tile_n=64", "tile_m=128 tile_n=128"}) {
      EvaluationRequest& request = requests.emplace_back(Request({{512, 512, k}, {kTn}}));
      request.protocol = Protocol::kShort;
      request.subject = *ParsePlan(fmt::format("wgmma {} warpgroups=1 stages=4 trigger=late", tile));
    }
    for (const Outcome& outcome : JudgeTogether(CandidatesFor(requests)))
      EXPECT_EQ(outcome.kind, OutcomeKind::kMeasured) << outcome.reason;
  }
  const double after = baseline_ns();
  fmt::print("  lt_auto_tn, 64x64x64: {:.0f} ns before, {:.0f} ns after\n", before, after);
  EXPECT_NEAR(after / before, 1, 0.04);
}

TEST_F(EvaluatorGpuTest, WithoutTimingACandidateIsVerifiedAndNothingElse) {
  EvaluationRequest request = Request({{120, 72, 200}, {kNn}});
  request.time = false;
  for (const Protocol protocol : {Protocol::kScreen, Protocol::kShort}) {
    request.protocol = protocol;
    const Outcome outcome = Evaluate(request);
    EXPECT_EQ(outcome.kind, OutcomeKind::kVerified) << outcome.stage << ": " << outcome.reason;
    EXPECT_TRUE(outcome.verdict.passed);
    EXPECT_EQ(outcome.verdict.baseline_max_abs_error, 0);
    EXPECT_TRUE(outcome.timings.empty() && outcome.comparisons.empty() && outcome.baseline_algorithms.empty());
  }
}

TEST_F(EvaluatorGpuTest, JudgingOneProblemReportsItsRates) {
  const auto rate = [&](Protocol protocol, size_t count) {
    EvaluationRequest request = Request({{128, 128, 512}, {kTn}});
    request.protocol = protocol;
    const std::vector<Candidate> candidates(count, CandidateFor(request));
    (void)JudgeTogether({candidates[0]});  // makes the session
    const auto start = std::chrono::steady_clock::now();
    for (const Outcome& outcome : JudgeTogether(candidates)) EXPECT_EQ(outcome.kind, OutcomeKind::kMeasured);
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    fmt::print("{}: {:.1f} cells a second\n", Name(protocol), double(count) / seconds);
    RecordProperty(fmt::format("{}_cells_per_second", Name(protocol)), std::to_string(double(count) / seconds));
  };
  rate(Protocol::kScreen, 160);
  rate(Protocol::kHeat, 32);
  rate(Protocol::kShort, 32);
}

}  // namespace
}  // namespace gemmsmith
