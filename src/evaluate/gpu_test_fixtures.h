// Fixtures of GPU tests. The tests are skipped without a driver.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <memory>
#include <string>

#include "evaluate/evaluator.h"
#include "evaluate/gpu_judge.h"
#include "evaluate/gpu_test_compiler.h"
#include "gpu/driver.h"

namespace gemmsmith {

// In this process: a judge of its own on the first GPU for each test.
class TestWithJudge : public testing::Test {
 protected:
  void SetUp() override {
    if (const Result<const Driver*> driver = Driver::Open(); !driver.ok()) GTEST_SKIP() << driver.status().message();
    Result<std::unique_ptr<GpuJudge>> judge = GpuJudge::Open(0);
    ASSERT_TRUE(judge.ok()) << judge.status().message();
    judge_ = *std::move(judge);
  }
  // Where there is none, nothing else need be set up.
  bool HasJudge() const { return judge_ != nullptr; }

  std::unique_ptr<GpuJudge> judge_;
};

// From outside: one worker for all tests of a suite. Its start costs seconds, and that it serves on after every failure
// is part of what is tested.
class TestWithWorker : public testing::Test {
 protected:
  // Empty where one may be started.
  static std::string WhyNoWorker() {
    if (const Result<const Driver*> driver = Driver::Open(); !driver.ok()) return driver.status().message();
    const std::filesystem::path program = ProgramBesideTests();
    return std::filesystem::exists(program) ? "" : program.string() + " is not built";
  }
  // With the program of this build for a worker.
  static void StartWorker(IsolationOptions options = {}) {
    skip_reason_ = WhyNoWorker();
    if (!skip_reason_.empty()) return;
    options.worker_program = ProgramBesideTests().string();
    Result<std::unique_ptr<Evaluator>> evaluator = MakeIsolatedEvaluator(options);
    ASSERT_TRUE(evaluator.ok()) << evaluator.status().message();
    evaluator_ = *std::move(evaluator);
    Result<std::unique_ptr<Compiler>> compiler = MakeCompilerOnAllCores();
    ASSERT_TRUE(compiler.ok()) << compiler.status().message();
    compiler_ = *std::move(compiler);
  }
  static void TearDownTestSuite() {
    evaluator_.reset();
    compiler_.reset();
    skip_reason_.clear();
  }
  void SetUp() override {
    if (!skip_reason_.empty()) GTEST_SKIP() << skip_reason_;
    ASSERT_NE(evaluator_, nullptr);
    ASSERT_NE(compiler_, nullptr);
  }
  // Without the look at the machine code, which would end it.
  static PreparedCandidate Compiled(const Source& source) {
    PreparedCandidate candidate;
    Result<Compilation> compilation = compiler_->Compile(source, evaluator_->device().Architecture());
    EXPECT_TRUE(compilation.ok() && compilation->succeeded) << (compilation.ok() ? compilation->log : "no compiler");
    if (compilation.ok()) candidate.compilation = *std::move(compilation);
    return candidate;
  }
  static Outcome Judge(const EvaluationRequest& request, const PreparedCandidate& candidate) {
    const Result<Outcome> outcome = evaluator_->Evaluate(request, candidate);
    EXPECT_TRUE(outcome.ok()) << outcome.status().message();
    return outcome.ok() ? *outcome : Outcome{};
  }

  inline static std::unique_ptr<Evaluator> evaluator_;
  inline static std::unique_ptr<Compiler> compiler_;
  inline static std::string skip_reason_;
};

}  // namespace gemmsmith
