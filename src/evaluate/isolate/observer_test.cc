#include "evaluate/isolate/observer.h"

#include <gtest/gtest.h>

namespace gemmsmith {
namespace {

TEST(Observer, WhatAnHonestSourceCallsIsNoMisdeed) {
  for (const char* call :
       {"cuLaunchKernel", "cuLaunchKernelEx", "cuLaunchCooperativeKernel", "cuFuncSetAttribute", "cuFuncGetAttribute",
        "cuDeviceGetAttribute", "cuCtxGetCurrent", "cuMemsetD8Async", "cuMemsetD32Async", "cuMemcpyDtoDAsync_v2",
        "cuOccupancyMaxActiveBlocksPerMultiprocessor", "cuStreamIsCapturing", "cuStreamGetCaptureInfo_v3",
        "cuKernelSetAttribute", "cuLibraryGetKernel", "cuTensorMapEncodeTiled", "cuGetProcAddress_v2"})
    EXPECT_FALSE(IsMisdeed(call, false)) << call;
}

TEST(Observer, WhateverAllocatesCreatesOrCopiesToTheHostIsOne) {
  for (const char* call :
       {"cuMemAlloc_v2", "cuMemAllocAsync", "cuMemFree_v2", "cuMemcpyDtoHAsync_v2", "cuMemcpyHtoD_v2", "cuStreamCreate",
        "cuStreamBeginCapture_v2", "cuEventCreate", "cuGraphLaunch", "cuGraphInstantiateWithParams", "cuLaunchHostFunc",
        "cuCtxSetLimit", "cuStreamSetAttribute", "cuMemGetAddressRange_v2", "cuIpcOpenMemHandle"})
    EXPECT_TRUE(IsMisdeed(call, true)) << call;
}

TEST(Observer, CodeIsLoadedInTheFirstCallOnly) {
  for (const char* call : {"cuModuleLoadDataEx", "cuLibraryLoadData", "cuLinkCreate_v2"}) {
    EXPECT_FALSE(IsMisdeed(call, true)) << call;
    EXPECT_TRUE(IsMisdeed(call, false)) << call;
  }
}

TEST(Observer, MisdeedsAreKeptOnceAndNotWithoutEnd) {
  const std::unique_ptr<Observer> observer = MakeBlindObserver();
  for (int i = 0; i < 100; ++i) observer->AddMisdeed(fmt::format("cuFree{}", i % 50));
  EXPECT_EQ(observer->Misdeeds().size(), 16);
  observer->Forget();
  EXPECT_TRUE(observer->Misdeeds().empty());
}

TEST(Observer, WithoutCuptiThereIsAReason) {
  EXPECT_EQ(MakeCuptiObserver("/no/libcupti.so").status().message(), "/no/libcupti.so does not open");
}

}  // namespace
}  // namespace gemmsmith
