// The pool of compiler processes, with the real program at the other end.
#include <gtest/gtest.h>
#include <signal.h>

#include <atomic>
#include <thread>

#include "base/files.h"
#include "compile/compiler.h"
#include "program/covering.h"
#include "program/emit.h"

namespace gemmsmith {
namespace {

// Holds the turn of "here" for as long as it lives, so that everything else goes to the processes.
class Occupied : public Compiler {
 public:
  explicit Occupied(std::unique_ptr<Compiler> compiler) : compiler_(std::move(compiler)) {}
  Result<Compilation> Compile(const Source& source, std::string_view architecture) override {
    if (source.entry != "occupy") return compiler_->Compile(source, architecture);
    while (!released) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    return Compilation{};
  }
  std::string Identity() const override { return compiler_->Identity(); }
  std::atomic<bool> released = false;

 private:
  const std::unique_ptr<Compiler> compiler_;
};

class CompilerProcessesTest : public testing::Test {
 protected:
  CompilerProcessesTest() { occupied_ = new Occupied(*MakeNvrtcCompiler()); }
  ~CompilerProcessesTest() override {
    occupied_->released = true;
    if (occupant_.joinable()) occupant_.join();
  }
  void Open(std::vector<std::string> command, int count) {
    pool_ = MakeCompilerProcesses(std::unique_ptr<Compiler>(occupied_), std::move(command), count);
    occupant_ = std::thread([this] { (void)pool_->Compile({"", "occupy"}, "sm_90a"); });
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }

  Occupied* occupied_;
  std::unique_ptr<Compiler> pool_;
  std::thread occupant_;
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
}

TEST_F(CompilerProcessesTest, OneThatWasKilledIsReplaced) {
  const TemporaryFolder folder = *TemporaryFolder::Create("compilers");
  const std::string marker = (folder.path() / "died").string();
  // The first one dies with the request, as if killed from outside.
  Open({"sh", "-c",
        fmt::format("if [ ! -e {0} ]; then touch {0}; kill -9 $$; fi; exec {1} compiler", marker, GEMMSMITH_PROGRAM)},
       1);
  const Compilation made = *pool_->Compile({"extern \"C\" __global__ void k() {}", "k"}, "sm_90a");
  EXPECT_TRUE(made.succeeded) << made.log;
  EXPECT_TRUE(std::filesystem::exists(marker));
}

TEST_F(CompilerProcessesTest, ATextThatEndsEveryCompilerDoesNotCompile) {
  Open({"sh", "-c", "exit 3"}, 1);
  const Compilation made = *pool_->Compile({"extern \"C\" __global__ void k() {}", "k"}, "sm_90a");
  EXPECT_FALSE(made.succeeded);
  EXPECT_NE(made.log.find("exit code 3"), std::string::npos) << made.log;
}

TEST_F(CompilerProcessesTest, AProgramThatIsNoCompilerIsNoted) {
  Open({"sh", "-c", "cat >/dev/null & echo this is not a length of anything at all; wait"}, 1);
  const Compilation made = *pool_->Compile({"extern \"C\" __global__ void k() {}", "k"}, "sm_90a");
  EXPECT_FALSE(made.succeeded);
  EXPECT_NE(made.log.find("impossible length"), std::string::npos) << made.log;
}

}  // namespace
}  // namespace gemmsmith
