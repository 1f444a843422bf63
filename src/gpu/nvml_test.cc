#include "gpu/nvml.h"

#include <dlfcn.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>

namespace gemmsmith {
namespace {

TEST(Nvml, MissingLibraryIsOneClearLine) {
  if (dlopen("libnvidia-ml.so.1", RTLD_NOW) != nullptr) GTEST_SKIP() << "this machine has NVML";
  const auto nvml = Nvml::Open("GPU-00000000-0000-0000-0000-000000000000");
  ASSERT_EQ(nvml.status().code(), StatusCode::kUnavailable);
  EXPECT_NE(nvml.status().message().find("libnvidia-ml.so.1"), std::string::npos);
  EXPECT_EQ(nvml.status().message().find('\n'), std::string::npos);
}

TEST(ForeignProcesses, OurselvesOurParentsAndOurChildrenAreNone) {
  const pid_t child = fork();
  if (child == 0) {
    pause();
    _exit(0);
  }
  const std::array ours = {int(getpid()), int(getppid()), int(child)};
  EXPECT_EQ(CountForeignProcesses(ours, getpid()), 0);
  EXPECT_EQ(CountForeignProcesses({}, getpid()), 0);
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
}

TEST(ForeignProcesses, ASiblingIsOne) {
  std::array<pid_t, 2> children{};
  for (pid_t& child : children)
    if ((child = fork()) == 0) {
      pause();
      _exit(0);
    }
  const std::array pids = {int(children[0]), int(children[1])};
  EXPECT_EQ(CountForeignProcesses(pids, children[0]), 1);
  for (const pid_t child : children) {
    kill(child, SIGKILL);
    waitpid(child, nullptr, 0);
  }
}

TEST(ForeignProcesses, OneIdOfAnotherNamespaceMayBeOurs) {
  constexpr int kNobody = 1 << 30;  // above any pid the kernel gives
  const std::array one = {kNobody};
  const std::array two = {kNobody, kNobody + 1};
  const std::array ours_and_one = {int(getpid()), kNobody};
  EXPECT_EQ(CountForeignProcesses(one, getpid()), 0);
  EXPECT_EQ(CountForeignProcesses(two, getpid()), 1);
  EXPECT_EQ(CountForeignProcesses(ours_and_one, getpid()), 1);
}

}  // namespace
}  // namespace gemmsmith
