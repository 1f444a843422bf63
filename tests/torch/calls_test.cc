// libgemmsmith_aten.so as torch calls it: with a pretended torch and a pretended driver.
#include <cuda.h>
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "base/files.h"
#include "base/hash.h"
#include "catalogue/kernel_file.h"
#include "fake/driver.h"
#include "fake/numbers.h"
#include "fake_torch.h"
#include "program/emit.h"
#include "program/family.h"
#include "program/space.h"

extern "C" {
const char* gemmsmith_aten_open();
const char* gemmsmith_aten_patch();
void gemmsmith_aten_unpatch();
void gemmsmith_aten_constant_weights(const void* ranges, size_t count);
void gemmsmith_aten_calls(uint64_t* ours, uint64_t* passed_on);
}

namespace gemmsmith {
namespace {

constexpr int64_t kM = 16, kN = 32, kK = 64;

void AddEntry(Gemm gemm, bool chainable, KernelFile& file) {
  const Device h200 = *FindDevice("h200");
  gemm.kind.constant_b = chainable;
  for (Plan plan : RankedPlans(gemm, h200, 400)) {
    plan = WithTrigger(WithFixed(plan, FixedDimensions::kAll), chainable ? Trigger::kLast : Trigger::kNone);
    if (!IsLegal(plan, gemm, h200)) continue;
    const Launch launch = LaunchFor(plan, gemm);
    if (!launch.deterministic || launch.workspace_bytes > 0 || launch.chainable != chainable) continue;
    const std::string code = "fake " + std::string(Name(gemm.kind.layout)) + " " + std::string(Name(gemm.kind.type)) +
                             " maps=" + std::to_string(launch.maps.size()) + '\0';
    file.Assign(gemm, plan,
                {.kernel = file.Add("gemm", HashBytes(Emit(plan, gemm).text), code), .time_ns = 5000, .speed_up = 2});
    return;
  }
  ADD_FAILURE() << "no plan for " << Print(gemm);
}

// A matrix that owns its memory. Handles to it are given away, as torch gives them.
struct Matrix {
  Matrix(int64_t rows, int64_t columns, int64_t row_stride, int64_t column_stride, int32_t type = kFakeHalf)
      : tensor{{rows, columns}, {row_stride, column_stride}, type, kFakeGpu, 0, nullptr}, memory(1 << 16) {
    tensor.data = memory.data() + (16 - reinterpret_cast<uintptr_t>(memory.data()) % 16) % 16;
    for (int64_t i = 0; i < 8192; ++i) FakeWrite(tensor.data, kFakeF16, i, float((i * 7 + rows) % 17 - 8) / 8);
  }
  uint64_t Give() const {
    ++TheFakeTorch().tensors;
    return reinterpret_cast<uint64_t>(new AtenTensorOpaque(tensor));
  }
  AtenTensorOpaque tensor;
  std::vector<char> memory;
};

float At(const AtenTensorOpaque& tensor, int64_t row, int64_t column) {
  return FakeRead(tensor.data, kFakeF16, row * tensor.strides[0] + column * tensor.strides[1]);
}

class TorchCalls : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    folder_ = new TemporaryFolder(*TemporaryFolder::Create("gemmsmith-torch"));
    KernelFile file("h200");
    for (const Layout layout : {kTn, kNn}) {
      AddEntry({.shape = {kM, kN, kK}, .kind = {.layout = layout}}, false, file);
      AddEntry({.shape = {kM, kN, kK}, .kind = {.layout = layout}}, true, file);
    }
    AddEntry({.shape = {1, kN, kK}, .kind = {.layout = kTn}}, false, file);
    AddEntry({.shape = {2 * kM, kN, kK}, .kind = {.layout = kTn}}, true, file);
    AddEntry({.shape = {kM, kN, 2 * kK}, .kind = {.layout = kTn}}, false, file);
    ASSERT_TRUE(WriteFileAtomic(folder_->path() / "h200.kernels", file.Print()).ok());
    setenv("GEMMSMITH_KERNELS", folder_->path().c_str(), 1);
    setenv("XDG_CONFIG_HOME", folder_->path().c_str(), 1);
    setenv("FAKE_GPUS", "2", 1);
    ASSERT_STREQ(gemmsmith_aten_open(), nullptr);
  }
  static void TearDownTestSuite() { delete folder_; }
  void SetUp() override {
    CUcontext context = nullptr;
    cuDevicePrimaryCtxRetain(&context, 0);
    cuCtxSetCurrent(context);
    ASSERT_STREQ(gemmsmith_aten_patch(), nullptr);
  }
  void TearDown() override {
    gemmsmith_aten_unpatch();
    EXPECT_EQ(torch_.tensors, 0) << "every handle is released once";
  }

  // aten::mm. Whether it was ours is in the counters.
  AtenTensorOpaque Mm(const Matrix& a, const Matrix& b) {
    uint64_t stack[2] = {a.Give(), b.Give()};
    torch_.kernels.at("aten::mm")(stack, 2, 1);
    return Take(stack[0]);
  }
  AtenTensorOpaque MmOut(const Matrix& a, const Matrix& b, const Matrix& out) {
    uint64_t stack[3] = {a.Give(), b.Give(), out.Give()};
    torch_.kernels.at("aten::mm.out")(stack, 3, 1);
    return Take(stack[0]);
  }
  AtenTensorOpaque Take(uint64_t handle) {
    AtenTensorOpaque* const tensor = reinterpret_cast<AtenTensorOpaque*>(handle);
    AtenTensorOpaque result = *tensor;
    delete tensor;
    --torch_.tensors;
    return result;
  }
  std::string Explain(const Matrix& a, const Matrix& b) {
    uint64_t stack[2] = {a.Give(), b.Give()};
    torch_.kernels.at("gemmsmith::explain")(stack, 2, 1);
    const std::unique_ptr<StringOpaque> string(reinterpret_cast<StringOpaque*>(stack[0]));
    return string->text;
  }
  template <class Call>
  void ExpectOurs(const Call& call, int64_t launches = 1) {
    const int64_t before = FakeLaunches(), originals = torch_.originals;
    call();
    EXPECT_EQ(FakeLaunches(), before + launches);
    EXPECT_EQ(torch_.originals, originals);
  }
  template <class Call>
  void ExpectPassedOn(const Call& call) {
    const int64_t before = FakeLaunches(), originals = torch_.originals;
    call();
    EXPECT_EQ(FakeLaunches(), before);
    EXPECT_EQ(torch_.originals, originals + 1);
  }
  void ExpectProduct(const AtenTensorOpaque& out, const Matrix& a, const Matrix& b) {
    for (int64_t i = 0; i < out.sizes[0]; ++i)
      for (int64_t j = 0; j < out.sizes[1]; ++j) {
        float sum = 0;
        for (int64_t k = 0; k < a.tensor.sizes[1]; ++k) sum += At(a.tensor, i, k) * At(b.tensor, k, j);
        ASSERT_NEAR(At(out, i, j), sum, 0.01f * (1 + std::abs(sum))) << i << "," << j;
      }
  }

  FakeTorch& torch_ = TheFakeTorch();
  static TemporaryFolder* folder_;
  Matrix a_{kM, kK, kK, 1}, b_{kK, kN, 1, kK};  // a linear layer
};
TemporaryFolder* TorchCalls::folder_ = nullptr;

TEST_F(TorchCalls, AProductWithAKernelIsOursAndRight) {
  const Matrix rows(kK, kN, kN, 1), one_row(1, kK, 12345, 1);
  ExpectOurs([&] { ExpectProduct(Mm(a_, b_), a_, b_); });
  ExpectOurs([&] { ExpectProduct(Mm(a_, rows), a_, rows); });
  ExpectOurs([&] { ExpectProduct(Mm(one_row, b_), one_row, b_); });
  const AtenTensorOpaque out = Mm(a_, b_);
  EXPECT_EQ(out.strides, (std::vector<int64_t>{kN, 1}));
  EXPECT_EQ(out.type, kFakeHalf);
}

TEST_F(TorchCalls, AResultIsWrittenWhereItLies) {
  const Matrix out(kM, kN, kN, 1), out_of_columns(kN, kM, 1, kN);
  ExpectOurs([&] {
    EXPECT_EQ(MmOut(a_, b_, out).data, out.tensor.data);
    ExpectProduct(out.tensor, a_, b_);
  });
  // D^T = B^T A^T: the same product for us.
  const Matrix bt(kN, kK, kK, 1), at(kK, kM, 1, kK);
  ExpectOurs([&] { ExpectProduct(MmOut(bt, at, out_of_columns), bt, at); });
}

TEST_F(TorchCalls, WhatIsNotForUsGoesToTheOriginal) {
  const auto changed = [](Matrix matrix, auto change) {
    matrix.tensor.data = matrix.memory.data() + (16 - reinterpret_cast<uintptr_t>(matrix.memory.data()) % 16) % 16;
    change(matrix.tensor);
    return matrix;
  };
  const auto to_float = [](AtenTensorOpaque& t) { t.type = kFakeFloat; };
  ExpectPassedOn([&] { Mm(changed(a_, to_float), changed(b_, to_float)); });
  ExpectPassedOn([&] { Mm(a_, changed(b_, [](AtenTensorOpaque& t) { t.type = kFakeBrain; })); });
  ExpectPassedOn([&] { Mm(a_, changed(b_, [](AtenTensorOpaque& t) { t.device_type = kFakeCpu; })); });
  ExpectPassedOn([&] { Mm(a_, changed(b_, [](AtenTensorOpaque& t) { t.device = 1; })); });
  ExpectPassedOn([&] { Mm(changed(a_, [](AtenTensorOpaque& t) { t.data += 2; }), b_); });  // alignment
  for (const auto& strides : std::vector<std::vector<int64_t>>{{0, 1}, {1, 0}, {2 * kK, 2}, {1, 1}, {kK - 1, 1}})
    ExpectPassedOn([&] { Mm(changed(a_, [&](AtenTensorOpaque& t) { t.strides = strides; }), b_); });
  for (const auto& [m, n, k] : {std::array{int64_t{0}, kN, kK}, {kM, 0, kK}, {kM, kN, 0}})
    ExpectPassedOn([&, m = m, n = n, k = k] { Mm(Matrix(m, k, std::max<int64_t>(1, k), 1), Matrix(k, n, 1, k)); });
  const Matrix no_kernel(kM + 8, kK, kK, 1);
  for (int i = 0; i < 2; ++i) ExpectPassedOn([&] { Mm(no_kernel, b_); });
}

TEST_F(TorchCalls, ResultsThatTorchWouldResizeOrThatOverlapAreTorchs) {
  Matrix smaller(kM, kN - 1, kN, 1), vector(kM, kN, kN, 1), inside(kM, kN, kN, 1);
  vector.tensor.sizes = {kM * kN}, vector.tensor.strides = {1};
  inside.tensor.data = a_.tensor.data + 64;
  for (const Matrix* out : {&smaller, &vector, &inside}) ExpectPassedOn([&] { MmOut(a_, b_, *out); });
}

TEST_F(TorchCalls, WrongShapesAreSaidInTorchsWords) {
  const auto message = [&](const Matrix& a, const Matrix& b) -> std::string {
    try {
      Mm(a, b);
    } catch (const std::exception& error) {
      return error.what();
    }
    return "";
  };
  Matrix vector(kM, kK, kK, 1);
  vector.tensor.sizes = {kK}, vector.tensor.strides = {1};
  EXPECT_EQ(message(a_, a_), "mat1 and mat2 shapes cannot be multiplied (16x64 and 16x64)");
  EXPECT_EQ(message(vector, b_), "self must be a matrix");
  EXPECT_EQ(message(a_, vector), "mat2 must be a matrix");
}

TEST_F(TorchCalls, ANewProblemIsTorchsWhileItsStreamIsCaptured) {
  const Matrix a(kM, 2 * kK, 2 * kK, 1), b(2 * kK, kN, 1, 2 * kK);
  char stream = 0;
  torch_.stream = &stream;
  FakeBeginCapture(&stream);
  ExpectPassedOn([&] { Mm(a, b); });
  EXPECT_EQ(FakeEndCapture(&stream).size(), 0u);
  ExpectOurs([&] { Mm(a, b); });
  FakeBeginCapture(&stream);
  ExpectOurs([&] { Mm(a, b); });
  EXPECT_EQ(FakeEndCapture(&stream).size(), 1u);
  torch_.stream = nullptr;
}

TEST_F(TorchCalls, AConstantWeightChainsWhereOnlyAChainedKernelIsKnown) {
  const Matrix a(2 * kM, kK, kK, 1);
  const uintptr_t begin = reinterpret_cast<uintptr_t>(b_.tensor.data), ranges[] = {8, 16, begin, begin + 2 * kK * kN};
  const int64_t chained = FakeChainedLaunches();
  ExpectOurs([&] { Mm(a, b_); });
  EXPECT_EQ(FakeChainedLaunches(), chained);
  gemmsmith_aten_constant_weights(ranges, 2);
  ExpectOurs([&] { ExpectProduct(Mm(a, b_), a, b_); });
  EXPECT_EQ(FakeChainedLaunches(), chained + 1);
  gemmsmith_aten_constant_weights(nullptr, 0);
  ExpectOurs([&] { Mm(a, b_); });
  EXPECT_EQ(FakeChainedLaunches(), chained + 1);
}

TEST_F(TorchCalls, TheDeviceOfTheTensorsIsCurrentForTheCall) {
  a_.tensor.device = b_.tensor.device = 1;
  ExpectOurs([&] { EXPECT_EQ(Mm(a_, b_).device, 1); });
  EXPECT_EQ(torch_.device, 0);
}

TEST_F(TorchCalls, UnpatchingGivesTheOriginalsBack) {
  EXPECT_STREQ(gemmsmith_aten_patch(), nullptr) << "patched twice is patched";
  EXPECT_EQ(torch_.kernels.size(), 4u);
  gemmsmith_aten_unpatch();
  gemmsmith_aten_unpatch();
  EXPECT_EQ(torch_.kernels.size(), 2u);
  EXPECT_EQ(torch_.kernels.count("gemmsmith::mm"), 1u);
}

TEST_F(TorchCalls, AnExplanationNamesTheKernelOrTheReason) {
  const Matrix no_kernel(kM + 8, kK, kK, 1), broadcast(kM, kK, 0, 1);
  Matrix unaligned(kM, kK, kK, 1);
  unaligned.tensor.data += 2;
  EXPECT_NE(Explain(a_, b_).find("made and measured for this problem"), std::string::npos) << Explain(a_, b_);
  for (const Matrix* a : {&no_kernel, const_cast<const Matrix*>(&unaligned)})
    EXPECT_NE(Explain(*a, b_).find("cuBLASLt: "), std::string::npos) << Explain(*a, b_);
  EXPECT_NE(Explain(broadcast, b_).find("torch: not a product for us"), std::string::npos);
}

TEST_F(TorchCalls, CallsAreCounted) {
  uint64_t ours = 0, passed_on = 0, ours_after = 0, passed_on_after = 0;
  gemmsmith_aten_calls(&ours, &passed_on);
  Mm(a_, b_);
  Mm(Matrix(kM + 8, kK, kK, 1), b_);
  gemmsmith_aten_calls(&ours_after, &passed_on_after);
  EXPECT_EQ(ours_after, ours + 1);
  EXPECT_EQ(passed_on_after, passed_on + 1);
}

}  // namespace
}  // namespace gemmsmith
