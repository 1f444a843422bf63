#include "base/interrupt.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

namespace gemmsmith {
namespace {

// In a child: the flag stays for the life of a process.
class InterruptTest : public testing::TestWithParam<int> {};

TEST_P(InterruptTest, ASecondSignalEndsTheProgramAtOnce) {
  const pid_t child = fork();
  if (child == 0) {
    WatchForInterrupts();
    raise(GetParam() == SIGINT ? SIGTERM : SIGINT);  // which one came first makes no difference
    WatchForInterrupts();
    raise(GetParam());
    _exit(0);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == GetParam()) << status;
}

INSTANTIATE_TEST_SUITE_P(Signals, InterruptTest, testing::Values(SIGINT, SIGTERM));

}  // namespace
}  // namespace gemmsmith
