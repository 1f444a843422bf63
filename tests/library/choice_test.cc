// Which kernel a call gets, and when it is left to cuBLASLt.
#include "library_fixture.h"

namespace gemmsmith {
namespace {

TEST_F(Library, AProblemWithAnEntryGetsItsKernel) {
  const Gemm gemm{.shape = {64, 128, 256}, .kind = {.layout = kTn}};
  KernelFile file("h200");
  AddEntry(gemm, PlanFor(gemm), 1.25, file);
  Open(file);
  Case one = SomeCase(64, 128, 256);
  one.problem.b_order = GEMMSMITH_COLUMN;
  const int64_t launches = FakeLaunches();
  EXPECT_EQ(Multiply(one), GEMMSMITH_OK) << gemmsmith_last_error();
  EXPECT_EQ(FakeLaunches(), launches + 1);
  const std::string text = Explain(one.problem);
  EXPECT_NE(text.find("gemm 64x128x256 tn f16 f32"), std::string::npos) << text;
  EXPECT_NE(text.find("made and measured for this problem"), std::string::npos) << text;
  EXPECT_NE(text.find("5.00 us, cuBLASLt 6.25 us"), std::string::npos) << text;
}

TEST_F(Library, AnEntryThatIsBehindIsLeftToCublasLt) {
  const Gemm gemm{.shape = {64, 128, 256}, .kind = {.layout = kTn}};
  KernelFile file("h200");
  AddEntry(gemm, PlanFor(gemm), 0.95, file);
  Open(file);
  Case one = SomeCase(64, 128, 256);
  one.problem.b_order = GEMMSMITH_COLUMN;
  const int64_t launches = FakeLaunches();
  EXPECT_EQ(Multiply(one), GEMMSMITH_OK) << gemmsmith_last_error();
  EXPECT_EQ(FakeLaunches(), launches);
  EXPECT_NE(Explain(one.problem).find("cuBLASLt: expected to be faster (ours 5.00 us, cuBLASLt 4.75 us)"),
            std::string::npos)
      << Explain(one.problem);
}

TEST_F(Library, AnOverlaysEntryGoesBeforeAShippedOneOfAnotherPromise) {
  Gemm gemm{.shape = {64, 128, 256}, .kind = {.layout = kTn}};
  KernelFile shipped("h200"), overlay("h200");
  AddEntry(gemm, PlanFor(gemm), 2, shipped);
  gemm.kind.constant_b = true;
  AddEntry(gemm, PlanFor(gemm, true), 3, overlay);
  Open(shipped);
  gemmsmith_context_destroy(std::exchange(context_, nullptr));
  const std::string path = folder_.path() / "overlay.kernels";
  ASSERT_TRUE(WriteFileAtomic(path, overlay.Print()).ok());
  ASSERT_EQ(gemmsmith_context_create(&context_, path.c_str()), GEMMSMITH_OK);
  Case one = SomeCase(64, 128, 256);
  one.problem.b_order = GEMMSMITH_COLUMN;
  one.problem.constant_b = 1;
  EXPECT_NE(Explain(one.problem).find("5.00 us, cuBLASLt 15.00 us"), std::string::npos) << Explain(one.problem);
}

TEST_F(Library, FewerRowsAreServedByTheEntryOfTheNextLargerNumber) {
  KernelFile file("h200");
  for (const int m : {8, 32}) {
    const Gemm gemm{.shape = {m, 128, 256}, .kind = {.layout = kTn}};
    AddEntry(gemm, PlanFor(gemm), 2, file);
  }
  Open(file);
  const std::pair<int, const char*> asked[] = {{3, "measured for 8 rows"}, {20, "measured for 32 rows"}};
  for (const auto& [m, words] : asked) {
    Case one = SomeCase(m, 128, 256);
    one.problem.b_order = GEMMSMITH_COLUMN;
    EXPECT_EQ(Multiply(one), GEMMSMITH_OK) << gemmsmith_last_error();
    EXPECT_NE(Explain(one.problem).find(words), std::string::npos) << Explain(one.problem);
  }
}

// Ours takes at most what it takes for more rows, cuBLASLt at least what it takes for fewer.
TEST_F(Library, BetweenTwoEntriesThatOfMoreRowsServesWhereItsLeadIsSure) {
  KernelFile file("h200");
  for (const auto& [m, speed_up] : {std::pair{64, 1.2}, {256, 1.05}, {1024, 3}}) {
    const Gemm gemm{.shape = {m, 128, 256}, .kind = {.layout = kTn}};
    AddEntry(gemm, PlanFor(gemm), speed_up, file);
  }
  Open(file);
  const auto explained = [&](int m) {
    Case one = SomeCase(m, 128, 256);
    one.problem.b_order = GEMMSMITH_COLUMN;
    EXPECT_EQ(Multiply(one), GEMMSMITH_OK) << gemmsmith_last_error();
    return Explain(one.problem);
  };
  const std::string sure = explained(100), unsure = explained(300);
  EXPECT_NE(sure.find("measured for 256 rows, cuBLASLt for 64"), std::string::npos) << sure;
  EXPECT_NE(sure.find("5.00 us, cuBLASLt 6.00 us"), std::string::npos) << sure;
  EXPECT_EQ(unsure.find("cuBLASLt for 256"), std::string::npos) << unsure;
}

TEST_F(Library, AKernelWithoutDimensionsOfItsOwnServesOtherShapes) {
  const Gemm gemm{.shape = {64, 128, 256}, .kind = {.layout = kTn}};
  KernelFile file("h200");
  AddEntry(gemm, PlanFor(gemm), 2, file);
  Open(file);
  Case one = SomeCase(64, 128, 512);
  one.problem.b_order = GEMMSMITH_COLUMN;
  const int64_t launches = FakeLaunches();
  EXPECT_EQ(Multiply(one), GEMMSMITH_OK) << gemmsmith_last_error();
  EXPECT_EQ(FakeLaunches(), launches + 1);
  EXPECT_NE(Explain(one.problem).find("predicted from gemm 64x128x256"), std::string::npos) << Explain(one.problem);
}

class GeneralKernels : public Library {
 protected:
  // An entry that no other shape can use, and a plan for any.
  void OpenWith(double speed_up) {
    const Gemm gemm{.shape = {64, 128, 256}, .kind = {.layout = kTn}};
    KernelFile file("h200");
    AddEntry(gemm, WithFixed(PlanFor(gemm), FixedDimensions::kAll), speed_up, file);
    for (const Layout& layout : kLayouts) {
      const Gemm any{.shape = {64, 128, 512}, .kind = {.layout = layout}};
      file.AddGeneral(kPlan, AddKernel(any, kPlan, file));
    }
    Open(file);
  }
  static Case CaseOf(int64_t m, int64_t n, int64_t k) {
    Case one = SomeCase(m, n, k);
    one.problem.b_order = GEMMSMITH_COLUMN;
    return one;
  }
  // Which of the two served it.
  bool IsOurs(const Case& one) {
    const int64_t launches = FakeLaunches();
    EXPECT_EQ(Multiply(one), GEMMSMITH_OK) << gemmsmith_last_error();
    return FakeLaunches() > launches;
  }
  const Plan kPlan = *ParsePlan("wgmma tile_m=64 tile_n=64 warpgroups=1 stages=3 store=tma");
};

TEST_F(GeneralKernels, ServeShapesNearbyWhereTheLeadIsEnough) {
  OpenWith(2);
  Case one = CaseOf(72, 136, 264);
  EXPECT_TRUE(IsOurs(one));
  const std::string text = Explain(one.problem);
  EXPECT_NE(text.find("predicted from 1 entries, without dimensions; the nearest problem that was measured is 0.3"),
            std::string::npos)
      << text;
  one.problem.constant_b = 1;
  EXPECT_TRUE(IsOurs(one)) << "the promise asks for nothing";
}

TEST_F(GeneralKernels, LeaveASmallPredictedLeadToCublasLt) {
  OpenWith(1.2);
  const Case one = CaseOf(72, 136, 264);
  EXPECT_FALSE(IsOurs(one));
  const std::string text = Explain(one.problem);
  EXPECT_NE(text.find("1.45 is asked"), std::string::npos) << text;
  EXPECT_NE(text.find("\nours: wgmma tile_m=64 tile_n=64"), std::string::npos) << text;
}

TEST_F(GeneralKernels, AreNotTrustedFarFromWhatWasMeasured) {
  OpenWith(20);
  const Case one = CaseOf(72, 136, 2048);
  EXPECT_FALSE(IsOurs(one));
  EXPECT_NE(Explain(one.problem).find("none is trusted so far"), std::string::npos) << Explain(one.problem);
}

// Ragged m, n and k; every storage order; lines with gaps.
TEST_F(GeneralKernels, ServeEveryShapeOfAlignedLinesWhereTheyMust) {
  OpenWith(2);
  ASSERT_EQ(setenv("GEMMSMITH_ALWAYS", "1", 1), 0);
  for (const gemmsmith_order a : {GEMMSMITH_ROW, GEMMSMITH_COLUMN})
    for (const gemmsmith_order b : {GEMMSMITH_ROW, GEMMSMITH_COLUMN})
      for (const gemmsmith_order d : {GEMMSMITH_ROW, GEMMSMITH_COLUMN}) {
        Case one = SomeCase(37, 91, 53);
        one.problem.a_order = a, one.problem.b_order = b, one.problem.d_order = d;
        one.problem.lda = one.problem.ldb = one.problem.ldc = one.problem.ldd = 96;
        EXPECT_TRUE(IsOurs(one)) << Explain(one.problem);
      }
  EXPECT_FALSE(IsOurs(CaseOf(37, 91, 53))) << "TMA takes no such lines";
  unsetenv("GEMMSMITH_ALWAYS");
}

// All of K stays in shared memory.
TEST_F(Library, AKernelHasTheSharedMemoryThatEachOfItsProblemsNeeds) {
  KernelFile file("h200");
  const Plan plan = *ParsePlan("wgmma tile_m=128 tile_n=64 stages=resident store=tma");
  uint32_t kernel = 0;
  Hash128 text;
  for (const int k : {64, 256}) {
    const Gemm gemm{.shape = {128, 64, k}, .kind = {.layout = kTn}};
    if (k == 64) {
      text = HashBytes(Emit(plan, gemm).text);
      const std::string code = "fake tn f16 maps=" + std::to_string(LaunchFor(plan, gemm).maps.size());
      kernel = file.Add("gemm", text, code + '\0');
    }
    ASSERT_EQ(HashBytes(Emit(plan, gemm).text), text);
    file.Assign(gemm, plan, {.kernel = kernel, .time_ns = 5000, .speed_up = 2});
  }
  Open(file);
  const int64_t launches = FakeLaunches();
  for (const int k : {64, 256}) {
    Case one = SomeCase(128, 64, k);
    one.problem.b_order = GEMMSMITH_COLUMN;
    EXPECT_EQ(Multiply(one), GEMMSMITH_OK) << gemmsmith_last_error();
  }
  EXPECT_EQ(FakeLaunches(), launches + 2);
}

// Machine code for wide copies must not meet lines that they do not fit.
TEST_F(Library, AKernelIsNotGivenLinesThatItsTextIsNotFor) {
  const Gemm gemm{.shape = {64, 128, 256}, .kind = {.layout = kTn}};
  KernelFile file("h200");
  AddEntry(gemm, PlanFor(gemm), 2, file);
  Open(file);
  Case one = SomeCase(64, 128, 255);
  one.problem.b_order = GEMMSMITH_COLUMN;
  const int64_t launches = FakeLaunches();
  EXPECT_EQ(Multiply(one), GEMMSMITH_OK) << gemmsmith_last_error();
  EXPECT_EQ(FakeLaunches(), launches);
}

TEST_F(Library, APromisedConstantBChainsWhereTheEntryWasMeasuredInChains) {
  const Gemm in_chains{.shape = {64, 128, 256}, .kind = {.layout = kTn, .constant_b = true}},
      plain{.shape = {64, 128, 512}, .kind = {.layout = kTn}};
  KernelFile file("h200");
  AddEntry(in_chains, PlanFor(in_chains, true), 2, file);
  AddEntry(plain, PlanFor(plain, true), 2, file);
  Open(file);
  const int64_t chained = FakeChainedLaunches();
  for (const int k : {256, 512}) {
    Case one = SomeCase(64, 128, k);
    one.problem.b_order = GEMMSMITH_COLUMN;
    one.problem.constant_b = 1;
    const int64_t launches = FakeLaunches();
    EXPECT_EQ(Multiply(one), GEMMSMITH_OK) << gemmsmith_last_error();
    EXPECT_EQ(FakeLaunches(), launches + 1);
    EXPECT_EQ(FakeChainedLaunches(), chained + 1) << k;
  }
}

TEST_F(Library, WhereCublasLtIsLeftOutACallIsOursOrNotSupported) {
  const Gemm ahead{.shape = {64, 128, 256}, .kind = {.layout = kTn}},
      behind{.shape = {64, 128, 512}, .kind = {.layout = kTn}};
  KernelFile file("h200");
  AddEntry(ahead, PlanFor(ahead), 1.25, file);
  AddEntry(behind, WithFixed(PlanFor(behind), FixedDimensions::kAll), 0.95, file);
  Open(file);
  Case one = SomeCase(64, 128, 256);
  one.problem.b_order = GEMMSMITH_COLUMN;
  one.problem.own_only = 1;
  EXPECT_EQ(Multiply(one), GEMMSMITH_OK) << gemmsmith_last_error();
  const int64_t launches = FakeLaunches();
  Case epilogue = one, slower = one;
  epilogue.problem.has_bias = 1;
  slower.problem.k = 512;
  for (const Case& other : {epilogue, slower}) {
    EXPECT_EQ(Multiply(other), GEMMSMITH_NOT_SUPPORTED);
    EXPECT_EQ(Multiply(other), GEMMSMITH_NOT_SUPPORTED);
  }
  EXPECT_EQ(FakeLaunches(), launches);
  EXPECT_NE(Explain(slower.problem).find("cuBLASLt: expected to be faster"), std::string::npos);
}

TEST_F(Library, AnUnknownProblemIsNotPreparedDuringACapture) {
  const Gemm gemm{.shape = {16, 16, 64}, .kind = {.layout = kTn}};
  KernelFile file("h200");
  AddEntry(gemm, PlanFor(gemm), 2, file);
  Open(file);
  gemmsmith_problem problem = SomeCase(16, 16, 64).problem;
  problem.b_order = GEMMSMITH_COLUMN;
  problem.own_only = 1;
  alignas(16) static char a[4096], b[4096], d[4096];
  gemmsmith_operands operands;
  gemmsmith_operands_default(&operands);
  operands.a = a, operands.b = b, operands.d = d;
  char stream = 0;
  FakeBeginCapture(&stream);
  EXPECT_EQ(gemmsmith_multiply(context_, &problem, &operands, &stream), GEMMSMITH_NOT_SUPPORTED);
  EXPECT_EQ(FakeEndCapture(&stream).size(), 0u);
  EXPECT_EQ(FakeModules(), 0);
  EXPECT_EQ(gemmsmith_multiply(context_, &problem, &operands, nullptr), GEMMSMITH_OK) << gemmsmith_last_error();
  FakeBeginCapture(&stream);
  EXPECT_EQ(gemmsmith_multiply(context_, &problem, &operands, &stream), GEMMSMITH_OK) << gemmsmith_last_error();
  EXPECT_EQ(FakeEndCapture(&stream).size(), 1u);
}

TEST_F(Library, AnOlderGpuIsServedByCublasLt) {
  ASSERT_EQ(setenv("FAKE_CAPABILITY", "80", 1), 0);
  EXPECT_EQ(gemmsmith_context_create(&context_, nullptr), GEMMSMITH_OK) << gemmsmith_last_error();
  const int64_t launches = FakeLaunches();
  EXPECT_EQ(Multiply(SomeCase(64, 128, 256)), GEMMSMITH_OK) << gemmsmith_last_error();
  EXPECT_EQ(FakeLaunches(), launches);
  unsetenv("FAKE_CAPABILITY");
}

TEST_F(Library, EachGpuHasKernelsOfItsOwn) {
  ASSERT_EQ(setenv("FAKE_GPUS", "2", 1), 0);
  const Gemm gemm{.shape = {64, 128, 256}, .kind = {.layout = kTn}};
  KernelFile file("h200");
  AddEntry(gemm, PlanFor(gemm), 2, file);
  Open(file);
  Case one = SomeCase(64, 128, 256);
  one.problem.b_order = GEMMSMITH_COLUMN;
  for (const int device : {0, 1, 0}) {
    CUcontext primary = nullptr;
    cuDevicePrimaryCtxRetain(&primary, device);
    cuCtxSetCurrent(primary);
    const int64_t launches = FakeLaunches();
    EXPECT_EQ(Multiply(one), GEMMSMITH_OK) << gemmsmith_last_error();
    EXPECT_EQ(FakeLaunches(), launches + 1);
    CUdevice current = -1;
    cuCtxGetDevice(&current);
    EXPECT_EQ(current, device) << "left as it was";
  }
  EXPECT_EQ(FakeModules(), 2);
  unsetenv("FAKE_GPUS");
}

}  // namespace
}  // namespace gemmsmith
