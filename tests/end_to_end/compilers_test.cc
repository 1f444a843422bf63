// The pool of compiler processes, with the real program at the other end.
#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "base/files.h"
#include "compile/compiler.h"
#include "program/covering.h"
#include "program/emit.h"

namespace gemmsmith {
namespace {

// What is compiled here and not in a process is seen.
class Here : public Compiler {
 public:
  explicit Here(std::atomic<int>& count) : count_(count) {}
  Result<Compilation> Compile(const Source& source, std::string_view architecture) override {
    ++count_;
    return compiler_->Compile(source, architecture);
  }
  std::string Identity() const override { return compiler_->Identity(); }

 private:
  const std::unique_ptr<Compiler> compiler_ = *MakeNvrtcCompiler();
  std::atomic<int>& count_;
};

class CompilerProcessesTest : public testing::Test {
 protected:
  void Open(std::vector<std::string> command, int count) {
    pool_ = MakeCompilerProcesses(std::make_unique<Here>(compiled_here_), std::move(command), count);
  }
  Result<Compilation> CompileSomething() {
    return pool_->Compile({"extern \"C\" __global__ void k() {}", "k"}, "sm_90a");
  }

  std::atomic<int> compiled_here_ = 0;
  std::unique_ptr<Compiler> pool_;
};

TEST_F(CompilerProcessesTest, MakeTheSameKernelsAsTheCompilerHere) {
  Open({GEMMSMITH_PROGRAM, "compiler"}, 2);
  const Gemm gemm{{64, 128, 1024}};
  std::vector<Plan> plans = CoveringPlans(gemm, *FindDevice("h200"), 3);
  plans.resize(6);
  const std::unique_ptr<Compiler> here = *MakeNvrtcCompiler();
  EXPECT_EQ(pool_->Identity(), here->Identity());
  std::vector<Compilation> made(plans.size());
  std::vector<std::jthread> threads;
  for (size_t i = 0; i < plans.size(); ++i)
    threads.emplace_back([&, i] { made[i] = *pool_->Compile(Emit(plans[i], gemm), "sm_90a"); });
  threads.clear();
  for (size_t i = 0; i < plans.size(); ++i) {
    const Compilation expected = *here->Compile(Emit(plans[i], gemm), "sm_90a");
    EXPECT_TRUE(made[i].succeeded) << made[i].log;
    EXPECT_EQ(made[i].binary.facts, expected.binary.facts);
    EXPECT_EQ(made[i].binary.cubin, expected.binary.cubin);
  }
  const Compilation broken = *pool_->Compile({"no kernel", "k"}, "sm_90a");
  EXPECT_FALSE(broken.succeeded);
  EXPECT_NE(broken.log.find("error"), std::string::npos) << broken.log;
  EXPECT_EQ(compiled_here_, 0);
}

TEST_F(CompilerProcessesTest, OneThatWasKilledIsReplaced) {
  const TemporaryFolder folder = *TemporaryFolder::Create("compilers");
  const std::string marker = (folder.path() / "died").string();
  // The first one dies with the request, as if killed from outside.
  Open({"sh", "-c",
        fmt::format("if [ ! -e {0} ]; then touch {0}; kill -9 $$; fi; exec {1} compiler", marker, GEMMSMITH_PROGRAM)},
       1);
  const Compilation made = *CompileSomething();
  EXPECT_TRUE(made.succeeded) << made.log;
  EXPECT_TRUE(std::filesystem::exists(marker));
}

TEST_F(CompilerProcessesTest, ATextThatCrashesEveryCompilerDoesNotCompile) {
  Open({"sh", "-c", "echo assertion >&2; kill -SEGV $$"}, 1);
  const Compilation made = *CompileSomething();
  EXPECT_FALSE(made.succeeded);
  EXPECT_NE(made.log.find("assertion"), std::string::npos) << made.log;
}

// Nothing of it may be kept as if the text were at fault.
TEST_F(CompilerProcessesTest, CompilersThatAreKilledOrDoNotStartSayNothingAboutTheText) {
  for (const char* script : {"kill -9 $$", "echo no library >&2; exit 3",
                             "cat >/dev/null & echo this is not a length of anything at all; wait"}) {
    Open({"sh", "-c", script}, 1);
    EXPECT_EQ(CompileSomething().status().code(), StatusCode::kUnavailable) << script;
  }
  EXPECT_EQ(compiled_here_, 0);
}

TEST_F(CompilerProcessesTest, WhereNoProcessStartsTheCompilerHereServes) {
  Open({"/nowhere/no_such_program"}, 1);
  const Result<Compilation> made = CompileSomething();
  ASSERT_TRUE(made.ok()) << made.status().message();
  EXPECT_TRUE(made->succeeded) << made->log;
  EXPECT_EQ(compiled_here_, 1);
}

}  // namespace
}  // namespace gemmsmith
