#include "base/subprocess.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <thread>

namespace gemmsmith {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using std::chrono::steady_clock;

std::vector<std::string> Shell(std::string script) { return {"sh", "-c", std::move(script)}; }
steady_clock::time_point In(milliseconds time) { return steady_clock::now() + time; }

TEST(RunProcess, GivesOutputOfBothStreamsAndTheExitCode) {
  const ProcessResult result = *RunProcess(Shell("echo out; echo err >&2; exit 7"), seconds(10));
  EXPECT_EQ(result.output, "out\nerr\n");
  EXPECT_EQ(result.exit_code, 7);
  EXPECT_FALSE(result.timed_out);
}

TEST(RunProcess, HasNoStandardInput) { EXPECT_EQ(RunProcess({"cat"}, seconds(10))->output, ""); }

TEST(RunProcess, ASignalIs128More) { EXPECT_EQ(RunProcess(Shell("kill -SEGV $$"), seconds(10))->exit_code, 128 + 11); }

TEST(RunProcess, AMissingProgramIsUnavailableByName) {
  const Status status = RunProcess({"no-such-program-anywhere"}, seconds(10)).status();
  EXPECT_EQ(status.code(), StatusCode::kUnavailable);
  EXPECT_NE(status.message().find("no-such-program-anywhere"), std::string::npos);
}

TEST(RunProcess, TheWholeGroupDiesAtTheLimit) {
  const ProcessResult result = *RunProcess(Shell("sleep 1000 & echo $!; wait"), milliseconds(200));
  EXPECT_TRUE(result.timed_out);
  EXPECT_EQ(result.exit_code, 128 + SIGKILL);
  const pid_t grandchild = pid_t(std::atoi(result.output.c_str()));
  ASSERT_GT(grandchild, 1);
  bool gone = false;  // init reaps it in its own time; a zombie counts as dead
  for (int tries = 0; tries < 500 && !gone; ++tries) {
    const std::string state = RunProcess(Shell("ps -o stat= -p " + std::to_string(grandchild)), seconds(10))->output;
    gone = state.empty() || state.starts_with("Z");
  }
  EXPECT_TRUE(gone);
}

TEST(RunProcess, AGrandchildWithThePipeDoesNotHoldItUp) {
  const ProcessResult result = *RunProcess(Shell("sleep 5 & echo $!"), seconds(60));
  EXPECT_FALSE(result.timed_out);
  EXPECT_EQ(result.exit_code, 0);
  ::kill(pid_t(std::atoi(result.output.c_str())), SIGKILL);
}

TEST(RunProcess, AChildThatClosesItsOutputIsStillWaitedFor) {
  EXPECT_EQ(RunProcess(Shell("exec >&- 2>&-; sleep 0.05; exit 3"), seconds(10))->exit_code, 3);
}

TEST(RunProcess, OfMuchOutputTheEndIsKept) {
  const ProcessResult result = *RunProcess(Shell("head -c 5000000 /dev/zero | tr '\\0' x; echo end"), seconds(30));
  EXPECT_EQ(result.output.size(), size_t(1) << 20);
  EXPECT_TRUE(result.output.ends_with("xend\n"));
}

TEST(PipedProcess, TalksBothWays) {
  PipedProcess cat = *PipedProcess::Start({"cat"});
  for (std::string message : {std::string("first"), std::string("\0second\n", 8)}) {
    ASSERT_TRUE(cat.Write(message, In(seconds(10))).ok());
    std::string answer;
    ASSERT_TRUE(cat.ReadExactly(message.size(), answer, In(seconds(10))).ok());
    EXPECT_EQ(answer, message);
  }
  EXPECT_EQ(cat.KillAndReap(), 128 + SIGKILL);
}

TEST(PipedProcess, ADeadlineIsUnavailableAndTheChildLivesOn) {
  PipedProcess cat = *PipedProcess::Start({"cat"});
  std::string answer;
  const Status late = cat.ReadExactly(1, answer, In(milliseconds(30)));
  EXPECT_EQ(late.code(), StatusCode::kUnavailable);
  EXPECT_NE(late.message().find("timed out"), std::string::npos);
  ASSERT_TRUE(cat.Write("x", In(seconds(10))).ok());
  EXPECT_TRUE(cat.ReadExactly(1, answer, In(seconds(10))).ok());
}

TEST(PipedProcess, AWriteThatNobodyReadsMeetsItsDeadline) {
  PipedProcess sleeper = *PipedProcess::Start({"sleep", "1000"});
  EXPECT_EQ(sleeper.Write(std::string(1 << 20, 'x'), In(milliseconds(50))).code(), StatusCode::kUnavailable);
}

TEST(PipedProcess, AChildThatIsGoneIsAnErrorAndNoSignal) {
  PipedProcess child = *PipedProcess::Start(Shell("exit 5"));
  std::string answer;
  EXPECT_EQ(child.ReadExactly(1, answer, In(seconds(10))).code(), StatusCode::kIoError);
  const Status status = child.Write(std::string(1 << 20, 'x'), In(seconds(10)));  // more than a pipe holds
  EXPECT_EQ(status.code(), StatusCode::kIoError);
  EXPECT_NE(status.message().find("gone"), std::string::npos);
  EXPECT_EQ(child.KillAndReap(), 5) << "how it ended by itself";
}

TEST(PipedProcess, TheLastWordsOnStderrExplainACrash) {
  PipedProcess child = *PipedProcess::Start(Shell("echo 'illegal address' >&2; kill -ABRT $$"));
  std::string answer;
  EXPECT_FALSE(child.ReadExactly(1, answer, In(seconds(10))).ok());
  EXPECT_EQ(child.KillAndReap(), 128 + SIGABRT);
  EXPECT_EQ(child.StderrTail(), "illegal address\n");
}

TEST(PipedProcess, AChattyChildNeverBlocks) {
  PipedProcess child =
      *PipedProcess::Start(Shell("head -c 3000000 /dev/zero >&2; printf 'end' >&2; echo y; read x; echo z"));
  std::string answer;
  ASSERT_TRUE(child.ReadExactly(2, answer, In(seconds(30))).ok());
  const std::string tail = child.StderrTail();
  EXPECT_EQ(tail.size(), size_t(64) << 10);
  EXPECT_TRUE(tail.ends_with("end"));
  ASSERT_TRUE(child.Write("go\n", In(seconds(10))).ok());
  EXPECT_TRUE(child.ReadExactly(2, answer, In(seconds(10))).ok());
}

TEST(PipedProcess, AChildThatClosesItsStderrCanStillAnswer) {
  PipedProcess child = *PipedProcess::Start(Shell("exec 2>&-; read x; echo $x"));
  ASSERT_TRUE(child.Write("abc\n", In(seconds(10))).ok());
  std::string answer;
  EXPECT_TRUE(child.ReadExactly(4, answer, In(seconds(10))).ok());
  EXPECT_EQ(answer, "abc\n");
}

TEST(PipedProcess, IsKilledAndReapedAtTheEndOfItsScope) {
  pid_t pid = -1;
  {
    PipedProcess child = *PipedProcess::Start({"sleep", "1000"});
    PipedProcess moved = std::move(child);
    pid = moved.pid();
    EXPECT_EQ(::kill(pid, 0), 0);
  }
  EXPECT_EQ(::waitpid(pid, nullptr, WNOHANG), -1);
  EXPECT_EQ(errno, ECHILD);
}

TEST(PipedProcess, AssignmentReplacesTheChild) {
  PipedProcess child = *PipedProcess::Start({"cat"});
  child = *PipedProcess::Start(Shell("echo new"));
  std::string answer;
  EXPECT_TRUE(child.ReadExactly(4, answer, In(seconds(10))).ok());
  EXPECT_EQ(answer, "new\n");
}

TEST(PipedProcess, ChildrenDoNotKeepEachOthersPipesOpen) {
  PipedProcess first = *PipedProcess::Start(Shell("exec cat"));
  PipedProcess second = *PipedProcess::Start({"sleep", "1000"});
  ::kill(first.pid(), SIGTERM);
  std::string answer;
  EXPECT_EQ(first.ReadExactly(1, answer, In(seconds(10))).code(), StatusCode::kIoError);
}

}  // namespace
}  // namespace gemmsmith
