#include "evaluate/isolate/observer.h"

#include <gtest/gtest.h>
#include <sched.h>
#include <signal.h>
#include <sys/wait.h>

#include <thread>

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
        "cuMemcpyAsync", "cuMemcpy3DAsync_v2", "cuCtxSetLimit", "cuStreamSetAttribute", "cuMemGetAddressRange_v2",
        "cuIpcOpenMemHandle"})
    EXPECT_TRUE(IsMisdeed(call, true)) << call;
}

CUstream StreamNumber(uintptr_t number) { return reinterpret_cast<CUstream>(number); }

// As CUPTI hands them out.
struct Copied {
  CUdeviceptr to, from;
  size_t bytes;
  CUstream stream;
};
struct Filled {
  CUdeviceptr to;
  unsigned char value;
  size_t count;
  CUstream stream;
};
struct CopiedLines {
  const CUDA_MEMCPY2D* copy;
  CUstream stream;
};

TEST(Observer, WorkBelongsOnTheStreamThatWasGiven) {
  const CUstream given = StreamNumber(0x10), other = StreamNumber(2);
  const Copied copied{1, 2, 3, given};
  const Filled filled{1, 0, 3, given};
  EXPECT_EQ(WrongParameters("cuMemcpyDtoDAsync_v2", &copied, given), "");
  EXPECT_EQ(WrongParameters("cuMemcpyDtoDAsync_v2", &copied, other),
            "cuMemcpyDtoDAsync_v2 on a stream that it was not given");
  EXPECT_EQ(WrongParameters("cuMemsetD8Async", &filled, given), "");
  EXPECT_EQ(WrongParameters("cuMemsetD8Async", &filled, other), "cuMemsetD8Async on a stream that it was not given");
  EXPECT_EQ(WrongParameters("cuMemsetD8Async", &filled, nullptr), "");
  EXPECT_EQ(WrongParameters("cuFuncSetAttribute", nullptr, given), "");
}

TEST(Observer, CopiesOfLinesStayOnTheDevice) {
  CUDA_MEMCPY2D copy{};
  copy.srcMemoryType = copy.dstMemoryType = CU_MEMORYTYPE_DEVICE;
  const CopiedLines copied{&copy, StreamNumber(0x10)};
  EXPECT_EQ(WrongParameters("cuMemcpy2DAsync_v2", &copied, copied.stream), "");
  for (const CUmemorytype elsewhere : {CU_MEMORYTYPE_HOST, CU_MEMORYTYPE_UNIFIED}) {
    copy.dstMemoryType = elsewhere;
    EXPECT_EQ(WrongParameters("cuMemcpy2DAsync_v2", &copied, copied.stream), "cuMemcpy2DAsync from or to the host");
  }
}

TEST(Observer, LaunchesKeepNoPartOfL2AndHaveNoEvents) {
  CUlaunchAttribute attributes[2] = {};
  attributes[0].id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION;
  attributes[1].id = CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION;
  CUlaunchConfig config{};
  config.hStream = StreamNumber(0x10);
  config.attrs = attributes;
  config.numAttrs = 2;
  const CUlaunchConfig* const parameters = &config;
  const auto what_is_wrong = [&] { return WrongParameters("cuLaunchKernelEx", &parameters, StreamNumber(0x10)); };
  EXPECT_EQ(what_is_wrong(), "");
  attributes[1].id = CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW;
  EXPECT_EQ(what_is_wrong(), "a launch that keeps a window of L2");
  attributes[1].id = CU_LAUNCH_ATTRIBUTE_LAUNCH_COMPLETION_EVENT;
  EXPECT_EQ(what_is_wrong(), "a launch with an event");
  config.hStream = StreamNumber(2);
  EXPECT_EQ(what_is_wrong(), "a launch on a stream that it was not given");
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

TEST(Observer, AThreadThatCallsTheDriverIsNotForgotten) {
  const std::unique_ptr<Observer> observer = MakeBlindObserver();
  std::thread([&] { observer->HearAnotherThread(); }).join();
  observer->Forget();
  EXPECT_EQ(observer->Misdeeds(), std::vector<std::string>{"a driver call from a thread of its own"});
}

TEST(OwnThread, IsToldFromOthers) {
  const OwnThread own;
  EXPECT_TRUE(own.IsProbablyHere() && own.IsHere());
  std::thread([&] { EXPECT_FALSE(own.IsProbablyHere() || own.IsHere()); }).join();
}

// As a source could start one past the C library: the same pthread_self(), on a part of its caller's stack.
TEST(OwnThread, IsToldFromAThreadOnItsOwnStack) {
  struct Seen {
    const OwnThread* own;
    bool is_probably_here, is_here;
  };
  const OwnThread own;
  alignas(16) char part[64 << 10];
  Seen seen{&own, false, false};
  const pid_t child = ::clone(
      [](void* argument) {
        auto* const found = static_cast<Seen*>(argument);
        found->is_probably_here = found->own->IsProbablyHere();
        found->is_here = found->own->IsHere();
        return 0;
      },
      part + sizeof part, CLONE_VM | SIGCHLD, &seen);
  ASSERT_GT(child, 0);
  ASSERT_EQ(::waitpid(child, nullptr, 0), child);
  EXPECT_TRUE(seen.is_probably_here) << "it costs little because it does not tell this";
  EXPECT_FALSE(seen.is_here);
}

TEST(Observer, WithoutCuptiThereIsAReason) {
  EXPECT_EQ(MakeCuptiObserver("/no/libcupti.so").status().message(), "/no/libcupti.so does not open");
}

}  // namespace
}  // namespace gemmsmith
