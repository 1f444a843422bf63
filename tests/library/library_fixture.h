// libgemmsmith.so as programs use it, with a pretended driver and a pretended cuBLASLt that multiply on the CPU.
#pragma once

#include <cuda.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "base/files.h"
#include "catalogue/kernel_file.h"
#include "fake/driver.h"
#include "fake/kernels.h"
#include "fake/numbers.h"
#include "gemmsmith/gemmsmith.h"

namespace gemmsmith {

class Numbers {
 public:
  Numbers(int type, int64_t count, uint64_t seed, int64_t shift_bytes = 0)
      : type_(type), count_(count), bytes_(size_t(count) * 4 + 64), shift_(shift_bytes) {
    std::mt19937_64 random(seed);
    for (int64_t i = 0; i < count; ++i) FakeWrite(data(), type, i, float(int(random() % 17) - 8) / 8);
  }
  void* data() {
    const auto address = reinterpret_cast<uintptr_t>(bytes_.data());
    return reinterpret_cast<void*>((address + 15) / 16 * 16 + uintptr_t(shift_));
  }
  float At(int64_t index) { return FakeRead(data(), type_, index); }
  int64_t count() const { return count_; }

 private:
  int type_;
  int64_t count_;
  std::vector<char> bytes_;
  int64_t shift_;
};

struct Case {
  gemmsmith_problem problem;
  float alpha = 1, beta = 0;
  int64_t shift_bytes = 0;  // of the pointers from 16 bytes
};

inline Case SomeCase(int64_t m, int64_t n, int64_t k) {
  Case one;
  gemmsmith_problem_default(&one.problem);
  one.problem.m = m, one.problem.n = n, one.problem.k = k;
  return one;
}

class Library : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(setenv("GEMMSMITH_KERNELS", folder_.path().c_str(), 1), 0);
    ASSERT_EQ(setenv("XDG_CONFIG_HOME", folder_.path().c_str(), 1), 0);
    CUcontext context = nullptr;
    cuDevicePrimaryCtxRetain(&context, 0);
    cuCtxSetCurrent(context);
  }
  void TearDown() override {
    gemmsmith_context_destroy(context_);
    EXPECT_EQ(FakeModules(), 0) << "all are unloaded with their context";
  }
  gemmsmith_context* Open(const KernelFile& file = KernelFile("h200")) {
    overlay_ = folder_.path() / "mine.kernels";
    EXPECT_TRUE(WriteFileAtomic(overlay_, file.Print()).ok());
    EXPECT_EQ(gemmsmith_context_create(&context_, overlay_.c_str()), GEMMSMITH_OK) << gemmsmith_last_error();
    return context_;
  }
  std::string Explain(gemmsmith_problem problem) {
    gemmsmith_product* product = nullptr;
    EXPECT_EQ(gemmsmith_prepare(context_, &problem, 0, &product), GEMMSMITH_OK) << gemmsmith_last_error();
    size_t bytes = 0;
    EXPECT_EQ(gemmsmith_explain(product, nullptr, &bytes), GEMMSMITH_OK);
    std::string text(bytes, 'x');
    EXPECT_EQ(gemmsmith_explain(product, text.data(), &bytes), GEMMSMITH_OK);
    gemmsmith_release(product);
    EXPECT_EQ(text.back(), '\0');
    text.pop_back();
    return text;
  }
  // Calls it once and compares every element, by rows and columns as the problem names them.
  gemmsmith_status Multiply(Case one, uint64_t seed = 1);

  TemporaryFolder folder_ = *TemporaryFolder::Create("gemmsmith-library");
  std::filesystem::path overlay_;
  gemmsmith_context* context_ = nullptr;
};

}  // namespace gemmsmith
