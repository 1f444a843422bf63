#include "base/confine.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <functional>
#include <thread>

namespace gemmsmith {
namespace {

struct Ending {
  int signal = 0, exit_code = 0;
  std::string words;
};

// What becomes of a process that forbids the calls and then does this.
Ending EndingOf(SystemCalls forbidden, const std::function<void()>& action) {
  int words[2];
  EXPECT_EQ(::pipe(words), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    ::dup2(words[1], STDERR_FILENO);
    ::close(words[0]);
    if (!ForbidSystemCalls(forbidden).ok()) ::_exit(99);
    action();
    ::_exit(7);
  }
  ::close(words[1]);
  Ending ending;
  char buffer[256];
  for (ssize_t count; (count = ::read(words[0], buffer, sizeof buffer)) > 0;)
    ending.words.append(buffer, size_t(count));
  ::close(words[0]);
  int status = 0;
  ::waitpid(child, &status, 0);
  if (WIFSIGNALED(status)) ending.signal = WTERMSIG(status);
  if (WIFEXITED(status)) ending.exit_code = WEXITSTATUS(status);
  return ending;
}

void Nothing() {}
void OpenSocket() { ::socket(AF_INET, SOCK_STREAM, 0); }
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

TEST(ForbidSystemCalls, WhoDoesNothingForbiddenLivesOn) {
  EXPECT_EQ(EndingOf(SystemCalls::kBuild, Nothing).exit_code, 7);
  EXPECT_EQ(EndingOf(SystemCalls::kGuest, Nothing).exit_code, 7);
}

TEST(ForbidSystemCalls, ASocketIsDeniedToBuildsAndEndsGuests) {
  EXPECT_EQ(EndingOf(SystemCalls::kBuild, [] { ::_exit(::socket(AF_INET, SOCK_STREAM, 0)); }).exit_code, 255);
  EXPECT_EQ(EndingOf(SystemCalls::kGuest, OpenSocket).signal, SIGSYS);
}

TEST(ForbidSystemCalls, AGuestsCallIsNamed) {
  EXPECT_EQ(EndingOf(SystemCalls::kGuest, OpenSocket).words, "forbidden system call: socket\n");
  EXPECT_EQ(EndingOf(SystemCalls::kGuest, [] { ::fork(); }).words, "forbidden system call: clone\n");
}

TEST(ForbidSystemCalls, BuildsStartPrograms) { EXPECT_EQ(EndingOf(SystemCalls::kBuild, StartProgram).exit_code, 0); }

TEST(ForbidSystemCalls, GuestsStartNone) {
  EXPECT_EQ(EndingOf(SystemCalls::kGuest, StartProgram).signal, SIGSYS);
  EXPECT_EQ(EndingOf(SystemCalls::kGuest, [] { ::execl("/bin/true", "true", nullptr); }).signal, SIGSYS);
  EXPECT_EQ(EndingOf(SystemCalls::kGuest, [] { ::vfork(); }).signal, SIGSYS);
}

TEST(ForbidSystemCalls, ThreadsStartInBuildsOnly) {
  EXPECT_EQ(EndingOf(SystemCalls::kBuild, StartThread).exit_code, 7);
  // The C library has blocked all signals by then, so that nobody is left to name the call.
  EXPECT_EQ(EndingOf(SystemCalls::kGuest, StartThread).signal, SIGSYS);
}

TEST(ForbidSystemCalls, AThreadThatRanBeforeIsBoundToo) {
  const Ending ending = EndingOf(SystemCalls::kBuild, [] {});
  ASSERT_EQ(ending.exit_code, 7);
  const pid_t child = ::fork();
  if (child == 0) {
    int start[2];
    if (::pipe(start) != 0) ::_exit(98);
    std::thread before([&] {
      char byte;
      if (::read(start[0], &byte, 1) == 1) OpenSocket();
    });
    if (!ForbidSystemCalls(SystemCalls::kGuest).ok() || ::write(start[1], "x", 1) != 1) ::_exit(99);
    before.join();
    ::_exit(7);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGSYS);
}

TEST(ForbidSystemCalls, NamespacesAndTracingEndBuilds) {
  EXPECT_EQ(EndingOf(SystemCalls::kBuild, [] { ::unshare(CLONE_NEWUSER); }).signal, SIGSYS);
  EXPECT_EQ(EndingOf(SystemCalls::kBuild, [] { ::syscall(SYS_clone, CLONE_NEWUSER | SIGCHLD, 0, 0, 0, 0); }).signal,
            SIGSYS);
  EXPECT_EQ(EndingOf(SystemCalls::kBuild, [] { ::ptrace(PTRACE_TRACEME, 0, 0, 0); }).signal, SIGSYS);
}

TEST(ForbidSystemCalls, AGuestMayAbortAndSignalsNobodyElse) {
  EXPECT_EQ(EndingOf(SystemCalls::kGuest, [] { ::abort(); }).signal, SIGABRT);
  EXPECT_EQ(EndingOf(SystemCalls::kGuest, [] { ::kill(::getppid(), 0); }).signal, SIGSYS);
  EXPECT_EQ(EndingOf(SystemCalls::kGuest, [] { ::kill(-1, 0); }).signal, SIGSYS);
}

TEST(ForbidSystemCalls, AGuestCannotOutliveItsParentNorHideItsRefusal) {
  EXPECT_EQ(EndingOf(SystemCalls::kGuest, [] { ::prctl(PR_SET_PDEATHSIG, 0); }).signal, SIGSYS);
  EXPECT_EQ(EndingOf(SystemCalls::kGuest, [] { ::setsid(); }).signal, SIGSYS);
  EXPECT_EQ(EndingOf(SystemCalls::kGuest, [] { ::signal(SIGSYS, SIG_IGN); }).signal, SIGSYS);
  EXPECT_EQ(EndingOf(SystemCalls::kGuest,
                     [] {
                       sigset_t all;
                       sigfillset(&all);
                       ::sigprocmask(SIG_BLOCK, &all, nullptr);
                       OpenSocket();
                     })
                .signal,
            SIGSYS);
}

TEST(ForbidSystemCalls, NoCodeOfAGuestsInterruptsAnother) {
  EXPECT_EQ(EndingOf(SystemCalls::kGuest, [] { ::signal(SIGSEGV, [](int) {}); }).words,
            "forbidden system call: rt_sigaction\n");
  EXPECT_EQ(EndingOf(SystemCalls::kGuest, [] { ::alarm(1); }).words, "forbidden system call: alarm\n");
  EXPECT_EQ(EndingOf(SystemCalls::kGuest,
                     [] {
                       const itimerval soon = {{0, 0}, {0, 1000}};
                       ::setitimer(ITIMER_REAL, &soon, nullptr);
                     })
                .signal,
            SIGSYS);
  EXPECT_EQ(EndingOf(SystemCalls::kGuest,
                     [] {
                       struct sigaction now;
                       ::sigaction(SIGINT, nullptr, &now);
                     })
                .exit_code,
            7)
      << "to look is no harm";
}

TEST(ForbidSystemCalls, CallsOfAnotherArchitectureEndBoth) {
  EXPECT_EQ(EndingOf(SystemCalls::kBuild, [] { ::syscall(0x40000000 | SYS_getpid); }).signal, SIGSYS);
}

}  // namespace
}  // namespace gemmsmith
