#include "base/sandbox.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <thread>

#include "base/files.h"
#include "base/subprocess.h"

namespace gemmsmith {
namespace {

namespace fs = std::filesystem;
using std::chrono::milliseconds;
using std::chrono::seconds;

class SandboxTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (const Status works = SandboxWorks(); !works.ok()) GTEST_SKIP() << works.message();
  }

  static ProcessResult RunShell(const Sandbox& sandbox, const std::string& script) {
    const Result<std::vector<std::string>> command = SandboxedCommand(sandbox, {"sh", "-c", script});
    EXPECT_TRUE(command.ok()) << command.status().message();
    return *RunProcess(*command, seconds(20));
  }
};

TEST_F(SandboxTest, RunsTheSystemsProgramsAndGivesTheirExitCode) {
  const ProcessResult result = RunShell({}, "ls /usr/bin/env && exit 7");
  EXPECT_EQ(result.output, "/usr/bin/env\n");
  EXPECT_EQ(result.exit_code, 7);
}

TEST_F(SandboxTest, WritesToItsFolderOnly) {
  const TemporaryFolder folder = *TemporaryFolder::Create("gemmsmith-sandbox-test");
  std::ofstream(folder.path() / "given") << "given\n";
  const ProcessResult result = RunShell(
      {.writable = folder.path()},
      "cat given; echo made > made; echo more >> given; for path in /usr/x /x /etc/x /lib/x; do echo x > $path; done "
      "2>/dev/null; ls /etc");
  EXPECT_EQ(result.output, "given\nalternatives\nld.so.cache\n");
  EXPECT_EQ(*ReadFile(folder.path() / "made"), "made\n");
  EXPECT_EQ(*ReadFile(folder.path() / "given"), "given\nmore\n");
}

TEST_F(SandboxTest, ReadsWhatItIsGivenAndNothingBesideIt) {
  const TemporaryFolder folder = *TemporaryFolder::Create("gemmsmith-sandbox-test");
  fs::permissions(folder.path(), fs::perms(0755));
  std::ofstream(folder.path() / "shown") << "shown\n";
  std::ofstream(folder.path() / "hidden") << "hidden\n";
  const ProcessResult result = RunShell({.readable = {folder.path() / "shown"}},
                                        "ls " + folder.path().string() + "; cd " + folder.path().string() +
                                            "; cat shown; (echo x > shown) 2>/dev/null || echo refused");
  EXPECT_EQ(result.output, "shown\nshown\nrefused\n");
}

TEST_F(SandboxTest, HomesAndOtherFilesAreNotThere) {
  EXPECT_EQ(RunShell({}, "ls / | tr '\\n' ' '; ls -A /tmp").output.find("home"), std::string::npos);
  EXPECT_EQ(RunShell({}, "ls -A /tmp").output, "");
  EXPECT_NE(RunShell({}, "cat /etc/passwd").exit_code, 0);
}

TEST_F(SandboxTest, AForbiddenCallEndsTheProcess) {
  EXPECT_EQ(RunShell({.is_filtered = true}, "true; exec unshare -r true").exit_code, 128 + SIGSYS);
  EXPECT_EQ(RunShell({.is_filtered = true}, "ls / >/dev/null; (exit 7)").exit_code, 7);
}

TEST_F(SandboxTest, HasNoNetwork) {
  EXPECT_EQ(RunShell({}, "tail -n +3 /proc/net/dev | cut -d: -f1 | tr -d ' '").output, "lo\n");
  EXPECT_EQ(RunShell({}, "tail -n +2 /proc/net/route").output, "");
}

TEST_F(SandboxTest, SeesNoProcessButItsOwn) {
  const ProcessResult result = RunShell({}, "for p in /proc/[0-9]*; do cat $p/comm; done 2>/dev/null | sort -u");
  EXPECT_EQ(result.output.find("gemmsmith"), std::string::npos) << result.output;
  EXPECT_NE(RunShell({}, "kill -0 " + std::to_string(getpid())).exit_code, 0);
}

TEST_F(SandboxTest, KnowsNothingOfOurEnvironment) {
  ::setenv("GEMMSMITH_SECRET", "word", 1);
  const ProcessResult result = RunShell({.environment = {{"GIVEN", "1"}}}, "env | cut -d= -f1 | sort | tr '\\n' ' '");
  ::unsetenv("GEMMSMITH_SECRET");
  EXPECT_EQ(result.output.find("SECRET"), std::string::npos);
  EXPECT_NE(result.output.find("GIVEN"), std::string::npos);
}

TEST_F(SandboxTest, IsNobodyOfPower) {
  EXPECT_EQ(RunShell({}, "grep -E 'CapEff|CapPrm|CapAmb' /proc/self/status | cut -f2 | sort -u").output,
            "0000000000000000\n");
  EXPECT_EQ(RunShell({}, "grep NoNewPrivs /proc/self/status | cut -f2").output, "1\n");
}

TEST_F(SandboxTest, AFileEndsAtItsLimit) {
  const TemporaryFolder folder = *TemporaryFolder::Create("gemmsmith-sandbox-test");
  const ProcessResult result =
      RunShell({.writable = folder.path(), .file_bytes = 1 << 20}, "exec head -c 4000000 /dev/zero > big");
  EXPECT_EQ(result.exit_code, 128 + SIGXFSZ);
  EXPECT_EQ(fs::file_size(folder.path() / "big"), 1u << 20);
}

TEST_F(SandboxTest, ProcessesEndAtTheirLimit) {
  const ProcessResult result = RunShell(
      {.max_processes = 8}, "for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16; do sleep 1 & done 2>/dev/null; echo all");
  EXPECT_EQ(result.output.find("all"), std::string::npos) << result.output;
}

TEST_F(SandboxTest, MemoryEndsAtItsLimit) {
  const std::string grow = "x=$(head -c 200000000 /dev/zero | tr '\\0' x); echo grown";
  EXPECT_EQ(RunShell({.memory_bytes = 50u << 20}, grow).output.find("grown"), std::string::npos);
}

TEST_F(SandboxTest, CpuTimeEndsAtItsLimit) {
  EXPECT_EQ(RunShell({.cpu_seconds = 1}, "while :; do :; done").exit_code, 128 + SIGKILL);
}

TEST_F(SandboxTest, DiesWithItsStarterWhateverItLeftBehind) {
  const TemporaryFolder folder = *TemporaryFolder::Create("gemmsmith-sandbox-test");
  const auto command =
      SandboxedCommand({.writable = folder.path()},
                       {"sh", "-c", "setsid sh -c 'while :; do date +%s.%N >> beat; sleep 0.02; done' & wait"});
  ASSERT_TRUE(command.ok());
  const ProcessResult result = *RunProcess(*command, milliseconds(500));
  EXPECT_TRUE(result.timed_out);
  std::this_thread::sleep_for(milliseconds(300));
  const std::string last = *ReadFile(folder.path() / "beat");
  std::this_thread::sleep_for(milliseconds(200));
  EXPECT_FALSE(last.empty());
  EXPECT_EQ(*ReadFile(folder.path() / "beat"), last);
}

TEST_F(SandboxTest, PassesOnADescriptorThatItInherits) {
  int ends[2];
  ASSERT_EQ(::pipe2(ends, O_CLOEXEC), 0);
  const int inherited = ::dup2(ends[1], 57);  // without close-on-exec
  ASSERT_EQ(inherited, 57);
  EXPECT_EQ(RunShell({}, "bash -c 'echo through >&57'").exit_code, 0);
  ::close(inherited);
  ::close(ends[1]);
  char text[16] = {};
  EXPECT_EQ(::read(ends[0], text, sizeof text), 8);
  EXPECT_STREQ(text, "through\n");
  ::close(ends[0]);
}

}  // namespace
}  // namespace gemmsmith
