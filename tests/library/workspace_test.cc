// Kernels that need a workspace: a slot for each stream, and for each graph while it lives.
#include <algorithm>
#include <set>

#include "library_fixture.h"

namespace gemmsmith {
namespace {

constexpr int kSlots = 8;
constexpr Shape kShape{64, 64, 2048};

// Four CTAs a tile exchange their sums through a workspace.
Plan Exchanging(std::string_view trigger) {
  return *ParsePlan("wgmma tile_m=64 tile_n=64 warpgroups=1 split=4 reduction=exchange trigger=" +
                    std::string(trigger));
}

class LibraryWorkspace : public Library {
 protected:
  void SetUp() override {
    Library::SetUp();
    const Gemm gemm{.shape = kShape, .kind = {.layout = kTn}};
    KernelFile file("h200");
    AddEntry(gemm, Exchanging("none"), 2, file);
    Open(file);
  }
  gemmsmith_problem Problem(bool own_only = false) const {
    gemmsmith_problem problem = SomeCase(kShape.m, kShape.n, kShape.k).problem;
    problem.b_order = GEMMSMITH_COLUMN;
    problem.own_only = own_only;
    return problem;
  }
  static void* StreamOf(int i) { return reinterpret_cast<void*>(uintptr_t(0x100 + i)); }
  // The workspace of a call on this stream, or null where no kernel of ours was launched.
  void* WorkspaceOn(int stream) {
    const gemmsmith_problem problem = Problem();
    gemmsmith_operands operands;
    gemmsmith_operands_default(&operands);
    operands.a = a_.data(), operands.b = b_.data(), operands.d = d_.data();
    const int64_t launches = FakeLaunches();
    EXPECT_EQ(gemmsmith_multiply(context_, &problem, &operands, StreamOf(stream)), GEMMSMITH_OK)
        << gemmsmith_last_error();
    return FakeLaunches() > launches ? FakeWorkspace() : nullptr;
  }
  struct Captured {
    FakeGraph graph;
    void* workspace = nullptr;
  };
  Captured Capture(int stream) {
    Captured captured;
    FakeBeginCapture(StreamOf(stream));
    captured.workspace = WorkspaceOn(stream);
    EXPECT_EQ(WorkspaceOn(stream), captured.workspace) << "one slot for a capture";
    captured.graph = FakeEndCapture(StreamOf(stream));
    return captured;
  }

  Numbers a_{kFakeF16, int64_t{kShape.m} * kShape.k, 1}, b_{kFakeF16, int64_t{kShape.n} * kShape.k, 2},
      d_{kFakeF16, int64_t{kShape.m} * kShape.n, 3};
};

TEST_F(LibraryWorkspace, ResultsAreRightAndTheExplanationNamesIt) {
  Case one{.problem = Problem()};
  EXPECT_EQ(Multiply(one), GEMMSMITH_OK) << gemmsmith_last_error();
  EXPECT_NE(FakeWorkspace(), nullptr);
  const std::string text = Explain(Problem());
  EXPECT_NE(text.find("\nworkspace: "), std::string::npos) << text;
  EXPECT_NE(text.find("KiB for each stream"), std::string::npos) << text;
}

TEST_F(LibraryWorkspace, CtasThatWaitForEachOtherDoNotStartEarly) {
  const Gemm gemm{.shape = kShape, .kind = {.layout = kTn, .constant_b = true}};
  const Plan plan = Exchanging("last");
  ASSERT_TRUE(LaunchFor(plan, gemm).is_cooperative && LaunchFor(plan, gemm).chainable);
  gemmsmith_context_destroy(std::exchange(context_, nullptr));
  KernelFile file("h200");
  AddEntry(gemm, plan, 2, file);
  Open(file);
  Case one{.problem = Problem()};
  one.problem.constant_b = 1;
  const int64_t launches = FakeLaunches(), chained = FakeChainedLaunches();
  EXPECT_EQ(Multiply(one), GEMMSMITH_OK) << gemmsmith_last_error();
  EXPECT_EQ(FakeLaunches(), launches + 1);
  EXPECT_EQ(FakeChainedLaunches(), chained);
}

TEST_F(LibraryWorkspace, EachStreamHasAZeroedSlotOfItsOwn) {
  std::set<void*> seen;
  for (int stream = 0; stream < kSlots; ++stream) {
    auto* const workspace = static_cast<char*>(WorkspaceOn(stream));
    ASSERT_NE(workspace, nullptr);
    EXPECT_TRUE(std::all_of(workspace, workspace + (4 << 20), [](char byte) { return byte == 0; }));
    EXPECT_EQ(WorkspaceOn(stream), workspace) << "and keeps it";
    seen.insert(workspace);
  }
  EXPECT_EQ(seen.size(), size_t{kSlots});
}

TEST_F(LibraryWorkspace, WhereNoSlotIsLeftCublasLtServes) {
  for (int stream = 0; stream < kSlots; ++stream) EXPECT_NE(WorkspaceOn(stream), nullptr);
  EXPECT_EQ(WorkspaceOn(kSlots), nullptr);
  EXPECT_NE(WorkspaceOn(0), nullptr);
  const gemmsmith_problem problem = Problem(true);
  gemmsmith_operands operands;
  gemmsmith_operands_default(&operands);
  operands.a = a_.data(), operands.b = b_.data(), operands.d = d_.data();
  EXPECT_EQ(gemmsmith_multiply(context_, &problem, &operands, StreamOf(kSlots)), GEMMSMITH_NOT_SUPPORTED);
  EXPECT_EQ(gemmsmith_multiply(context_, &problem, &operands, StreamOf(0)), GEMMSMITH_OK) << gemmsmith_last_error();
}

TEST_F(LibraryWorkspace, AGraphHasASlotUntilItIsGone) {
  WorkspaceOn(kSlots);  // known before it is captured
  for (int stream = 0; stream < kSlots - 2; ++stream) EXPECT_NE(WorkspaceOn(stream), nullptr);
  Captured first = Capture(0);
  EXPECT_NE(first.workspace, nullptr);
  EXPECT_NE(first.workspace, WorkspaceOn(0)) << "not that of its stream";
  EXPECT_EQ(Capture(0).workspace, nullptr) << "none is left";
  const FakeGraph copy = first.graph;
  first.graph.clear();
  EXPECT_EQ(Capture(0).workspace, nullptr) << "what was made from it lives";
}

TEST_F(LibraryWorkspace, SlotsOfDeadGraphsServeOthers) {
  WorkspaceOn(0);
  for (int i = 0; i < 100; ++i) EXPECT_NE(Capture(i % 3).workspace, nullptr) << i;
}

TEST_F(LibraryWorkspace, AGraphThatCannotGiveItsSlotBackHasNone) {
  WorkspaceOn(0);
  ASSERT_EQ(setenv("FAKE_USER_OBJECTS", "0", 1), 0);
  for (int i = 0; i < 2 * kSlots; ++i) EXPECT_EQ(Capture(0).workspace, nullptr);
  unsetenv("FAKE_USER_OBJECTS");
  EXPECT_NE(Capture(0).workspace, nullptr) << "nothing was lost";
}

TEST_F(LibraryWorkspace, AGraphMayOutliveTheContext) {
  WorkspaceOn(0);
  const Captured captured = Capture(0);
  gemmsmith_context_destroy(std::exchange(context_, nullptr));
}

TEST_F(LibraryWorkspace, WithoutMemoryForItCublasLtServes) {
  ASSERT_EQ(setenv("FAKE_MEMORY", "0", 1), 0);
  EXPECT_EQ(WorkspaceOn(0), nullptr);
  unsetenv("FAKE_MEMORY");
  EXPECT_NE(Explain(Problem()).find("cuBLASLt: no kernel of ours serves this problem"), std::string::npos);
}

}  // namespace
}  // namespace gemmsmith
