#include "gpu/cublas.h"

#include <gtest/gtest.h>

namespace gemmsmith {
namespace {

// The libraries themselves open without a driver: what they lack is told by the first call.
TEST(Cublas, WithoutAGpuSaysWhichCallFailed) {
  if (Driver::Open().ok()) GTEST_SKIP() << "this machine has a GPU";
  const auto cublas = Cublas::Open();
  ASSERT_FALSE(cublas.ok());
  EXPECT_TRUE(cublas.status().message().starts_with("cublasCreate: CUBLAS_STATUS_")) << cublas.status().message();
  EXPECT_EQ(cublas.status().message().find('\n'), std::string::npos);
}

}  // namespace
}  // namespace gemmsmith
