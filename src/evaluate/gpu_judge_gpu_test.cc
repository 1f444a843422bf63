// The sessions that a judge keeps on its GPU from problem to problem.
#include "evaluate/gpu_test_fixtures.h"
#include "evaluate/session.h"

namespace gemmsmith {
namespace {

const StepListener kSilent = [](const Step&) {};

ProblemMessage Screened(int k) {
  ProblemMessage problem{{{{4096, 4096, k}, {kNn}}, Protocol::kScreen, {Clock::kDevice}, 1}};
  problem.baselines = *BaselineSet::Parse("lt_heuristic");
  return problem;
}

// Screened with few kinds of inputs, then raced with all of them and in the other layout.
ProblemMessage Raced(int k) {
  ProblemMessage problem = Screened(k);
  problem.gemm.kind.layout = kTn;
  problem.protocol = Protocol::kShort;
  return problem;
}

using GpuJudgeGpuTest = TestWithJudge;

TEST_F(GpuJudgeGpuTest, ProblemsThatComeToNeedMoreThanIsLeftPushOthersOut) {
  Gpu& gpu = judge_->gpu();
  constexpr int kFirst = 64, kLast = 1024;  // sixteen problems, as many as a judge keeps
  ASSERT_TRUE(judge_->Prepare(Screened(kFirst), kSilent).ok());
  const uint64_t after_one = gpu.FreeBytes();
  for (int k = kFirst + 64; k <= kLast; k += 64) ASSERT_TRUE(judge_->Prepare(Screened(k), kSilent).ok()) << k;
  const uint64_t screened = after_one - gpu.FreeBytes();

  // Room for all of them as they are and one of them as it will be.
  const uint64_t room = ProblemSession::BytesFor(Raced(kLast)) + (uint64_t{1} << 30);
  ASSERT_GT(16 * ProblemSession::BytesFor(Raced(kFirst)), screened + room) << "all of them have room";
  ASSERT_GT(gpu.FreeBytes(), room);
  const Result<DeviceMemory> ballast = gpu.Allocate(gpu.FreeBytes() - room);
  ASSERT_TRUE(ballast.ok()) << ballast.status().message();
  for (int k = kFirst; k <= kLast; k += 64) {
    const Status prepared = judge_->Prepare(Raced(k), kSilent);
    EXPECT_TRUE(prepared.ok()) << k << ": " << prepared.message();
  }
}

TEST_F(GpuJudgeGpuTest, WhatIsCertifiedIsNotKeptForToolsRunBesideTheNext) {
  const auto certified = [](int k) {
    ProblemMessage problem{{{{2048, 2048, k}, {kNn}}, Protocol::kScreen, {Clock::kDevice}, 1}};
    problem.time = false;
    problem.certify = true;
    return problem;
  };
  Gpu& gpu = judge_->gpu();
  ASSERT_TRUE(judge_->Prepare(certified(512), kSilent).ok());
  const uint64_t with_one = gpu.FreeBytes();
  for (const int k : {520, 528}) ASSERT_TRUE(judge_->Prepare(certified(k), kSilent).ok()) << k;
  constexpr uint64_t kOutputs = 2 * 2048 * 2048 * 2;  // of each, beside references and inputs
  EXPECT_GT(gpu.FreeBytes() + kOutputs, with_one);
}

}  // namespace
}  // namespace gemmsmith
