#include "base/confine.h"

#include <gtest/gtest.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <spawn.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <functional>
#include <thread>
#include <vector>

namespace gemmsmith {
namespace {

struct Ending {
  int signal = 0, exit_code = 0;
};

// As bubblewrap does it.
bool Forbid(int filter) {
  std::vector<sock_filter> program(size_t(::lseek(filter, 0, SEEK_END)) / sizeof(sock_filter));
  const size_t bytes = program.size() * sizeof(sock_filter);
  if (::pread(filter, program.data(), bytes, 0) != ssize_t(bytes)) return false;
  const sock_fprog whole = {static_cast<unsigned short>(program.size()), program.data()};
  return ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &whole) == 0;
}

// What becomes of a process that is filtered and then does this.
Ending EndingOf(const std::function<void()>& action) {
  const Result<int> filter = SystemCallFilter();
  EXPECT_TRUE(filter.ok()) << filter.status().message();
  const pid_t child = ::fork();
  if (child == 0) {
    if (!Forbid(*filter)) ::_exit(99);
    action();
    ::_exit(7);
  }
  Ending ending;
  int status = 0;
  ::waitpid(child, &status, 0);
  if (WIFSIGNALED(status)) ending.signal = WTERMSIG(status);
  if (WIFEXITED(status)) ending.exit_code = WEXITSTATUS(status);
  return ending;
}

void Nothing() {}
void StartProgram() {
  pid_t pid;
  char* const arguments[] = {const_cast<char*>("true"), nullptr};
  if (::posix_spawnp(&pid, "true", nullptr, nullptr, arguments, nullptr) != 0) ::_exit(8);
  int status = 0;
  ::waitpid(pid, &status, 0);
  ::_exit(WEXITSTATUS(status));
}
void StartThread() {
  std::thread([] {}).join();
}

TEST(SystemCallFilter, WhoDoesNothingForbiddenLivesOn) { EXPECT_EQ(EndingOf(Nothing).exit_code, 7); }

TEST(SystemCallFilter, ASocketIsDenied) {
  EXPECT_EQ(EndingOf([] { ::_exit(::socket(AF_INET, SOCK_STREAM, 0)); }).exit_code, 255);
}

TEST(SystemCallFilter, ProgramsAndThreadsStart) {
  EXPECT_EQ(EndingOf(StartProgram).exit_code, 0);
  EXPECT_EQ(EndingOf(StartThread).exit_code, 7);
}

TEST(SystemCallFilter, NamespacesAndTracingEndTheProcess) {
  EXPECT_EQ(EndingOf([] { ::unshare(CLONE_NEWUSER); }).signal, SIGSYS);
  EXPECT_EQ(EndingOf([] { ::syscall(SYS_clone, CLONE_NEWUSER | SIGCHLD, 0, 0, 0, 0); }).signal, SIGSYS);
  EXPECT_EQ(EndingOf([] { ::ptrace(PTRACE_TRACEME, 0, 0, 0); }).signal, SIGSYS);
}

TEST(SystemCallFilter, CallsOfAnotherArchitectureEndTheProcess) {
  EXPECT_EQ(EndingOf([] { ::syscall(0x40000000 | SYS_getpid); }).signal, SIGSYS);
}

}  // namespace
}  // namespace gemmsmith
