// The message on a machine without a fitting driver. Libraries that pretend to be the driver are compiled on the spot.
#include "gpu/driver.h"

#include <dlfcn.h>
#include <gtest/gtest.h>

#include "base/files.h"
#include "base/installation.h"
#include "base/subprocess.h"
#include "gpu/gpu.h"
#include "gpu/symbol.h"

namespace gemmsmith {
namespace {

void ExpectOneLine(const std::string& message) {
  EXPECT_FALSE(message.empty());
  EXPECT_EQ(message.find('\n'), std::string::npos) << message;
}

TEST(Driver, MissingLibraryIsOneClearLine) {
  const auto driver = Driver::Load("libno-such-driver.so.1");
  ASSERT_EQ(driver.status().code(), StatusCode::kUnavailable);
  ExpectOneLine(driver.status().message());
  EXPECT_NE(driver.status().message().find("no NVIDIA driver"), std::string::npos) << driver.status().message();
  EXPECT_NE(driver.status().message().find("580"), std::string::npos) << driver.status().message();
}

TEST(Driver, WithoutOneEveryEntranceSaysTheSame) {
  if (dlopen("libcuda.so.1", RTLD_NOW) != nullptr) GTEST_SKIP() << "this machine has an NVIDIA driver";
  const std::string message = Driver::Open().status().message();
  EXPECT_NE(message.find("libcuda.so.1"), std::string::npos) << message;
  EXPECT_EQ(ListGpus().status().message(), message);
  EXPECT_EQ(Gpu::Open(0).status().message(), message);
  EXPECT_EQ(Gpu::Open(0).status().code(), StatusCode::kUnavailable);
}

TEST(Driver, AnErrorNamesTheCallAlone) {
  const Status status = DriverStatus(CUDA_ERROR_ILLEGAL_ADDRESS, "driver_->cuMemFree(address_)");
  EXPECT_EQ(status.code(), StatusCode::kIoError);
  EXPECT_TRUE(status.message().starts_with("cuMemFree: ")) << status.message();
  EXPECT_TRUE(DriverStatus(CUDA_SUCCESS, "cuMemFree").ok());
}

class PretendedDriver : public testing::Test {
 protected:
  void SetUp() override {
    compiler_ = FindProgram("cc");
    if (!compiler_) GTEST_SKIP() << "no C compiler to make a pretended driver with";
  }
  // Every function answers 0, but for the given bodies.
  Result<Driver> Load(int version, int init_result, int gpu_count, const std::string& left_out = "") {
    std::string text = fmt::format(
        "int cuDriverGetVersion(int* v) {{ *v = {}; return 0; }}\n"
        "int cuInit(unsigned f) {{ return {}; }}\n"
        "int cuDeviceGetCount(int* c) {{ *c = {}; return 0; }}\n"
        "int cuGetErrorName(int e, const char** n) {{ *n = \"PRETENDED_NAME\"; return 0; }}\n"
        "int cuGetErrorString(int e, const char** n) {{ *n = \"pretended words\"; return 0; }}\n",
        version, init_result, gpu_count);
#define GEMMSMITH_NAME(name) names.emplace_back(GEMMSMITH_SYMBOL(name));
    std::vector<std::string> names;
    GEMMSMITH_DRIVER_FUNCTIONS(GEMMSMITH_NAME)
    for (const std::string& name : names)
      if (text.find(" " + name + "(") == std::string::npos && name != left_out)
        text += "int " + name + "() { return 0; }\n";
    const auto source = folder_.path() / "driver.c", library = folder_.path() / "libcuda.so.1";
    EXPECT_TRUE(WriteFileAtomic(source, text).ok());
    const auto built =
        RunProcess({compiler_->string(), "-w", "-shared", "-fPIC", "-o", library.string(), source.string()},
                   std::chrono::seconds(60));
    EXPECT_TRUE(built.ok() && built->exit_code == 0) << (built.ok() ? built->output : built.status().message());
    return Driver::Load(library.string());
  }

  std::optional<std::filesystem::path> compiler_;
  TemporaryFolder folder_ = *TemporaryFolder::Create("gemmsmith-driver-test");
};

TEST_F(PretendedDriver, OfTheRightAgeWithAGpuOpens) {
  const auto driver = Load(13000, 0, 1);
  ASSERT_TRUE(driver.ok()) << driver.status().message();
  EXPECT_NE(driver->cuMemAlloc, nullptr);
}

TEST_F(PretendedDriver, TooOldIsToldByItsVersionThoughFunctionsAreMissing) {
  const auto driver = Load(12040, 0, 1, "cuEventElapsedTime_v2");
  ASSERT_EQ(driver.status().code(), StatusCode::kUnavailable);
  ExpectOneLine(driver.status().message());
  EXPECT_NE(driver.status().message().find("CUDA 12.4"), std::string::npos) << driver.status().message();
}

TEST_F(PretendedDriver, AMissingFunctionIsNamedAsTheSymbolIs) {
  const auto driver = Load(13000, 0, 1, "cuMemAlloc_v2");
  ASSERT_EQ(driver.status().code(), StatusCode::kUnavailable);
  EXPECT_NE(driver.status().message().find("cuMemAlloc_v2"), std::string::npos) << driver.status().message();
}

TEST_F(PretendedDriver, WithoutGpuSaysSo) {
  const auto answers_so = Load(13000, CUDA_ERROR_NO_DEVICE, 0);
  EXPECT_NE(answers_so.status().message().find("sees no GPU"), std::string::npos) << answers_so.status().message();
}

TEST_F(PretendedDriver, CountingNoGpuSaysSo) {
  const auto counts_none = Load(13010, 0, 0);
  EXPECT_NE(counts_none.status().message().find("sees no GPU"), std::string::npos) << counts_none.status().message();
}

TEST_F(PretendedDriver, ThatDoesNotStartSaysWhyInTheDriversWords) {
  const auto driver = Load(13000, CUDA_ERROR_SYSTEM_NOT_READY, 1);
  ASSERT_EQ(driver.status().code(), StatusCode::kUnavailable);
  EXPECT_NE(driver.status().message().find("cuInit: PRETENDED_NAME (pretended words)"), std::string::npos)
      << driver.status().message();
}

}  // namespace
}  // namespace gemmsmith
