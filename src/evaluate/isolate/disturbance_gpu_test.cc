// The steps on a GPU: what is hidden by a key is carried out as what lies open, launched or replayed.
#include <gtest/gtest.h>

#include <functional>

#include "base/statistics.h"
#include "evaluate/gpu_test_compiler.h"
#include "evaluate/isolate/disturbance.h"

namespace gemmsmith {
namespace {

constexpr int kSide = 64, kCount = kSide * kSide, kSteps = 6;
constexpr uint16_t kOne = 0x3c00;

#define ASSERT_DONE(expression) ASSERT_TRUE((expression).ok())

class DisturbanceGpuTest : public testing::Test {
 protected:
  using Elements = std::vector<uint16_t>;

  void SetUp() override {
    Result<std::unique_ptr<Gpu>> gpu = Gpu::Open(0);
    if (!gpu.ok()) GTEST_SKIP() << gpu.status().message();
    gpu_ = *std::move(gpu);
    const Result<std::unique_ptr<Compiler>> compiler = MakeCompilerHere();
    ASSERT_DONE(compiler);
    Result<DisturbanceJudge> judge = DisturbanceJudge::Create(*gpu_, **compiler);
    ASSERT_DONE(judge);
    judge_.emplace(*std::move(judge));
    for (DeviceMemory* memory : {&a_, &b_, &c_}) {
      Result<DeviceMemory> allocated = gpu_->Allocate(kCount * sizeof(uint16_t));
      ASSERT_DONE(allocated);
      *memory = *std::move(allocated);
    }
    Result<DeviceMemory> list = gpu_->Allocate(DisturbanceMemory::kBytes);
    ASSERT_DONE(list);
    list_ = *std::move(list);
    Random random(11);
    const MatrixView view = {.data = nullptr, .lines = kSide, .line_length = kSide, .stride = kSide};
    steps_ = DrawDisturbances(view, view, view, kSteps, random);
    key_ = DrawKey(random);
  }

  DisturbedMatrices Matrices() const { return {a_.as<void>(), b_.as<void>(), c_.as<void>(), {kSide, kSide, kSide}}; }
  // A, B and C, of ones, before the last step, which would undo all of them.
  Result<std::vector<Elements>> After(const DisturbanceKey& key, const std::function<Status()>& run) {
    std::vector<Elements> all;
    for (const DeviceMemory* memory : {&a_, &b_, &c_}) RETURN_IF_ERROR(gpu_->Fill16(memory->address(), kOne, kCount));
    RETURN_IF_ERROR(judge_->Prepare(steps_, list_.address(), key));
    RETURN_IF_ERROR(run());
    for (const DeviceMemory* memory : {&a_, &b_, &c_}) {
      Elements& elements = all.emplace_back(kCount);
      RETURN_IF_ERROR(gpu_->CopyToHost({reinterpret_cast<uint8_t*>(elements.data()), kCount * sizeof(uint16_t)},
                                       memory->address()));
    }
    return all;
  }
  Status RunAllButTheLast(const DisturbanceKey& key) {
    for (int i = 0; i < kSteps - 1; ++i) RETURN_IF_ERROR(judge_->kernels().Disturb(Matrices(), list_.address(), key));
    return OkStatus();
  }

  std::unique_ptr<Gpu> gpu_;
  std::optional<DisturbanceJudge> judge_;
  DeviceMemory a_, b_, c_, list_;
  std::vector<DisturbedStep> steps_;
  DisturbanceKey key_ = {};
};

TEST_F(DisturbanceGpuTest, HiddenStepsAreTheSameSteps) {
  const auto open = After(kOpenKey, [&] { return RunAllButTheLast(kOpenKey); });
  const auto hidden = After(key_, [&] { return RunAllButTheLast(key_); });
  ASSERT_TRUE(open.ok() && hidden.ok());
  EXPECT_EQ(*open, *hidden);
  EXPECT_NE((*open)[0], Elements(kCount, kOne));
}

TEST_F(DisturbanceGpuTest, ShamRenewalsLeaveEverythingAsItIs) {
  Random random(12);
  const MatrixView view = {.data = nullptr, .lines = kSide, .line_length = kSide, .stride = kSide};
  steps_ = DrawRenewals(kMaxDisturbedSteps, view, random);
  const auto run = [&](bool is_sham) {
    return After(key_, [&]() -> Status {
      DisturbedMatrices matrices = Matrices();
      matrices.is_sham = is_sham;
      for (int i = 0; i < 2; ++i) RETURN_IF_ERROR(judge_->kernels().Disturb(matrices, list_.address(), key_));
      return OkStatus();
    });
  };
  const auto sham = run(true), renewed = run(false);
  ASSERT_TRUE(sham.ok() && renewed.ok());
  for (const Elements& elements : *sham) EXPECT_EQ(elements, Elements(kCount, kOne));
  EXPECT_EQ((*renewed)[2], Elements(kCount, kPoison));
}

// Who would be told the one from the other by the time it takes could skip work behind one of them.
TEST_F(DisturbanceGpuTest, ShamRenewalsTakeAsLongAsRenewals) {
  constexpr int kLargeSide = 4096, kRenewals = 20, kRounds = 9;
  std::array<DeviceMemory, 3> large;
  for (DeviceMemory& memory : large) {
    Result<DeviceMemory> allocated = gpu_->Allocate(uint64_t{kLargeSide} * kLargeSide * sizeof(uint16_t));
    ASSERT_DONE(allocated);
    memory = *std::move(allocated);
  }
  Random random(13);
  const MatrixView view = {.data = nullptr, .lines = kLargeSide, .line_length = kLargeSide, .stride = kLargeSide};
  const std::vector<DisturbedStep> steps = DrawRenewals(kMaxDisturbedSteps, view, random);
  const Result<Event> first = gpu_->MakeEvent(), last = gpu_->MakeEvent();
  ASSERT_DONE(first);
  ASSERT_DONE(last);
  std::array<std::vector<double>, 2> times;  // renewals, sham ones
  for (int round = 0; round < kRounds; ++round)
    for (const bool is_sham : {round % 2 == 0, round % 2 != 0}) {
      const DisturbedMatrices matrices = {
          large[0].as<void>(), large[1].as<void>(), large[2].as<void>(), {kLargeSide, kLargeSide, kLargeSide}, is_sham};
      ASSERT_DONE(judge_->Prepare(steps, list_.address(), key_));
      ASSERT_DONE(judge_->kernels().Spin(400'000));
      ASSERT_DONE(gpu_->Record(*first));
      for (int i = 0; i < kRenewals; ++i) ASSERT_DONE(judge_->kernels().Disturb(matrices, list_.address(), key_));
      ASSERT_DONE(gpu_->Record(*last));
      const Result<double> elapsed = gpu_->ElapsedNs(*first, *last);
      ASSERT_DONE(elapsed);
      times[size_t(is_sham)].push_back(*elapsed / kRenewals);
    }
  const double renewal_ns = Median(times[0]), sham_ns = Median(times[1]);
  RecordProperty("renewal_ns", fmt::format("{:.0f}", renewal_ns));
  RecordProperty("sham_ns", fmt::format("{:.0f}", sham_ns));
  EXPECT_NEAR(sham_ns / renewal_ns, 1, 0.02) << sham_ns << " ns against " << renewal_ns;
}

TEST_F(DisturbanceGpuTest, AGraphTakesItsKeyAfterItWasCaptured) {
  const auto launched = After(key_, [&] { return RunAllButTheLast(key_); });
  const Result<Graph> graph = gpu_->CaptureReplaceable([&] { return RunAllButTheLast(kOpenKey); });
  ASSERT_TRUE(launched.ok() && graph.ok());
  const auto replayed = After(key_, [&]() -> Status {
    RETURN_IF_ERROR(judge_->kernels().SetKey(*graph, Matrices(), list_.address(), key_));
    return gpu_->Replay(*graph);
  });
  ASSERT_TRUE(replayed.ok()) << replayed.status().message();
  EXPECT_EQ(*launched, *replayed);
}

TEST_F(DisturbanceGpuTest, TheLastStepUndoesWhatWasDoneToTheInputs) {
  const auto all = After(key_, [&]() -> Status {
    RETURN_IF_ERROR(RunAllButTheLast(key_));
    return judge_->kernels().Disturb(Matrices(), list_.address(), key_);
  });
  ASSERT_TRUE(all.ok());
  EXPECT_EQ((*all)[0], Elements(kCount, kOne));
  EXPECT_EQ((*all)[1], Elements(kCount, kOne));
  EXPECT_EQ((*all)[2], Elements(kCount, kPoison));
}

}  // namespace
}  // namespace gemmsmith
