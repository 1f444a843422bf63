#include "evaluate/isolate/guest_process.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <chrono>
#include <thread>

#include "base/descriptors.h"
#include "base/sandbox.h"

namespace gemmsmith {
namespace {

constexpr double kStartSeconds = 20, kCallSeconds = 0.7;

std::vector<std::string> FakeGuest(const std::string& act) { return {"/proc/self/exe", "fake_guest", act}; }

GuestProcess Start(const std::string& act, const GuestSetup& setup = {}) {
  Result<GuestProcess> guest = GuestProcess::Start(FakeGuest(act), setup, kStartSeconds);
  EXPECT_TRUE(guest.ok()) << guest.status().message();
  return *std::move(guest);
}

TEST(GuestProcess, AnswersComeBackWhole) {
  GuestProcess guest = Start("well");
  EXPECT_EQ(guest.observer(), "capture");
  for (uint32_t calls : {1u, 7u}) {
    const std::optional<GuestAnswer> answer = guest.Call({.calls = calls}, kStartSeconds);
    ASSERT_TRUE(answer) << guest.end().reason;
    EXPECT_EQ(answer->event_ns, 500.0 * calls);
    EXPECT_EQ(answer->kernels, (std::vector<LaunchedKernel>{{"kernel", double(calls)}}));
  }
}

TEST(GuestProcess, InheritsTheDescriptorsOfItsSetup) {
  int ends[2];
  ASSERT_EQ(::pipe2(ends, O_CLOEXEC), 0);
  ASSERT_TRUE(WriteAll(ends[1], "the object"));
  ::close(ends[1]);
  GuestProcess guest = Start("inherits", {.object_descriptor = ends[0]});
  ::close(ends[0]);
  const std::optional<GuestAnswer> answer = guest.Call({}, kStartSeconds);
  ASSERT_TRUE(answer) << guest.end().reason;
  EXPECT_EQ(answer->failure, "the object");
}

TEST(GuestProcess, WhatGemmSaysIsAnAnswer) {
  GuestProcess guest = Start("fails");
  EXPECT_EQ(guest.Call({}, kStartSeconds)->failure, "gemm() returned cudaErrorInvalidValue (invalid argument)");
  EXPECT_TRUE(guest.Call({}, kStartSeconds)) << "and not its end";
}

TEST(GuestProcess, PrintingHarmsNobody) {
  GuestProcess guest = Start("shouts");
  EXPECT_TRUE(guest.Call({}, kStartSeconds)) << guest.end().reason;
}

TEST(GuestProcess, AnAnswerToNoQuestionIsACheat) {
  GuestProcess guest = Start("answers_twice");
  ASSERT_TRUE(guest.Call({}, kStartSeconds)) << guest.end().reason;
  std::this_thread::sleep_for(std::chrono::milliseconds(100));  // for the second one to arrive
  EXPECT_FALSE(guest.Call({}, kStartSeconds));
  EXPECT_EQ(guest.end().kind, OutcomeKind::kCheated);
  EXPECT_NE(guest.end().reason.find("spoke before it was asked"), std::string::npos) << guest.end().reason;
}

TEST(GuestProcess, WhatFailsBeforeTheSourceRunsIsTheWorlds) {
  const auto message = [](const std::string& act, double seconds) {
    return GuestProcess::Start(FakeGuest(act), {}, seconds).status().message();
  };
  EXPECT_EQ(message("refuses", kStartSeconds), "no driver in here");
  EXPECT_NE(message("exits_early", kStartSeconds).find("bwrap: no such device"), std::string::npos);
  EXPECT_NE(message("mute", 0.3).find("timed out"), std::string::npos);
}

// On a machine with a GPU too: it has none of this name.
TEST(GuestProcess, TheRealOneStartsInItsSandboxAndMissesItsGpu) {
  if (const Status sandbox = SandboxWorks(); !sandbox.ok()) GTEST_SKIP() << sandbox.message();
  const Result<GuestSetup> setup = LibrariesForGuest();
  if (!setup.ok()) GTEST_SKIP() << setup.status().message();
  const Result<std::vector<std::string>> command = SandboxedGuest("GPU-none");
  ASSERT_TRUE(command.ok()) << command.status().message();
  const Status started = GuestProcess::Start(*command, *setup, kStartSeconds).status();
  EXPECT_EQ(started.code(), StatusCode::kUnavailable);
  EXPECT_NE(started.message().find("NVIDIA driver"), std::string::npos) << started.message();
}

struct Fault {
  const char* act;
  OutcomeKind kind;
  const char* reason;  // part of it
};

class FaultyGuest : public testing::TestWithParam<Fault> {};

TEST_P(FaultyGuest, EndsItselfAndNothingElse) {
  GuestProcess guest = Start(GetParam().act);
  EXPECT_FALSE(guest.Call({}, kCallSeconds));
  EXPECT_EQ(guest.end().kind, GetParam().kind) << guest.end().reason;
  EXPECT_NE(guest.end().reason.find(GetParam().reason), std::string::npos) << guest.end().reason;
  EXPECT_EQ(guest.end().reason.find('\n'), std::string::npos);
}

INSTANTIATE_TEST_SUITE_P(Guest, FaultyGuest,
                         testing::Values(Fault{"crash", OutcomeKind::kLaunchFailed, "signal 11"},
                                         Fault{"exit", OutcomeKind::kLaunchFailed, "exit code 0; it said: all is well"},
                                         Fault{"hang", OutcomeKind::kTimedOut, "for 0.7 s"},
                                         Fault{"half", OutcomeKind::kTimedOut, "for 0.7 s"},
                                         Fault{"forbidden", OutcomeKind::kCheated,
                                               "may not make; it said: forbidden system call: execve"},
                                         Fault{"rubbish", OutcomeKind::kCheated, "not a frame"},
                                         Fault{"huge", OutcomeKind::kCheated, "a frame of 2097152 bytes"},
                                         Fault{"wrong_turn", OutcomeKind::kCheated, "out of turn"},
                                         Fault{"nonsense", OutcomeKind::kCheated, "answer of a guest"},
                                         Fault{"infinite", OutcomeKind::kCheated, "out of range"}),
                         [](const auto& instance) { return std::string(instance.param.act); });

TEST(GuestProcess, AnEndIsReadFromTheExitCodeOnlyWhereThePipeTellsNoMore) {
  EXPECT_EQ(EndOf(IoError("gone"), 128 + SIGSYS, "", 1).kind, OutcomeKind::kCheated);
  EXPECT_EQ(EndOf(Unavailable("timed out"), 128 + SIGKILL, "", 1).kind, OutcomeKind::kTimedOut);
  EXPECT_EQ(EndOf(IoError("gone"), 128 + SIGKILL, "", 1).kind, OutcomeKind::kLaunchFailed);
  EXPECT_NE(EndOf(IoError("gone"), 3, "\x1b[2Jgone", 1).reason.find("it said: ?[2Jgone"), std::string::npos);
  EXPECT_EQ(EndOf(IoError("gone"), 3, "one\n\ntwo", 1).reason,
            "the source ended its process with exit code 3; it said: one two");
}

}  // namespace
}  // namespace gemmsmith
