#include "evaluate/verify/memcheck.h"

#include <gtest/gtest.h>

namespace gemmsmith {
namespace {

TEST(MemcheckLog, ACleanOneIsCompleteAndHasNoErrors) {
  const MemcheckLog log = ParseMemcheckLog(
      "========= COMPUTE-SANITIZER\n"
      "========= ERROR SUMMARY: 0 errors\n");
  EXPECT_TRUE(log.is_complete);
  EXPECT_EQ(log.errors, 0);
  EXPECT_EQ(log.first, "");
}

TEST(MemcheckLog, TheFirstErrorIsToldWithItsPlaceButNotItsBacktrace) {
  const MemcheckLog log = ParseMemcheckLog(
      "========= COMPUTE-SANITIZER\n"
      "========= Invalid __global__ write of size 2 bytes\n"
      "=========     at gemmsmith_gemm+0x1f40\n"
      "=========     by thread (31,0,0) in block (3,2,0)\n"
      "=========     Access to 0x7f2c00400002 is out of bounds\n"
      "=========     and is 3 bytes after the nearest allocation at 0x7f2c00200000 of size 2,097,152 bytes\n"
      "=========     Saved host backtrace up to driver entry point at kernel launch time\n"
      "=========         Host Frame:cuLaunchKernelEx [0x2f1a] in libcuda.so.1\n"
      "=========         Host Frame:main [0x11] in gemmsmith\n"
      "=========\n"
      "========= Invalid __shared__ read of size 16 bytes\n"
      "=========     at gemmsmith_gemm+0x20\n"
      "=========\n"
      "========= ERROR SUMMARY: 7 errors\n"
      "========= ERROR SUMMARY: 4 errors were not printed. Use --print-limit option to adjust the number of printed "
      "errors\n");
  EXPECT_TRUE(log.is_complete);
  EXPECT_EQ(log.errors, 7);
  EXPECT_EQ(
      log.first,
      "Invalid __global__ write of size 2 bytes, at gemmsmith_gemm+0x1f40, by thread (31,0,0) in block (3,2,0), "
      "Access to 0x7f2c00400002 is out of bounds, and is 3 bytes after the nearest allocation at 0x7f2c00200000 of "
      "size 2,097,152 bytes");
}

TEST(MemcheckLog, WhatTheProgramPrintsBetweenIsNotItsOwn) {
  const MemcheckLog log = ParseMemcheckLog(
      "ERROR SUMMARY: 5 errors\n"
      "========= COMPUTE-SANITIZER\r\n"
      "an output of the program\n"
      "========= ERROR SUMMARY: 1 error\r\n");
  EXPECT_TRUE(log.is_complete);
  EXPECT_EQ(log.errors, 1);
}

TEST(MemcheckLog, WithoutASummaryTheToolDidNotSeeTheEnd) {
  for (const char* text : {"", "=========", "========= COMPUTE-SANITIZER\n",
                           "========= Error: Target application terminated before first instrumented API call\n",
                           "========= Target application returned an error\n", "========= ERROR SUMMARY: many errors\n",
                           "========= ERROR SUMMARY:"})
    EXPECT_FALSE(ParseMemcheckLog(text).is_complete) << text;
}

TEST(MemcheckLog, AnyCutKeepsWhatStandsBeforeIt) {
  const std::string text =
      "========= COMPUTE-SANITIZER\n========= Misaligned read\n=========     at k+0x1\n========= ERROR SUMMARY: 1 "
      "error\n";
  for (size_t length = text.find('\n') + 1; length <= text.size(); ++length) {
    const MemcheckLog log = ParseMemcheckLog(std::string_view(text).substr(0, length));
    EXPECT_TRUE(std::string_view("Misaligned read, at k+0x1").starts_with(log.first)) << log.first;
    EXPECT_EQ(log.is_complete, length >= text.find(" error\n")) << length;
  }
}

TEST(Memcheck, WithoutTheToolItSaysWhatToDo) {
  ::setenv("PATH", "/nowhere", 1);
  ::setenv("GEMMSMITH_CUDA", "/nowhere", 1);
  EvaluationRequest request;
  const Result<std::optional<Outcome>> result = RunMemcheck(request, {}, {}, {});
  if (result.status().code() != StatusCode::kUnavailable) GTEST_SKIP() << "the toolkit here has it";
  EXPECT_NE(result.status().message().find("--memcheck"), std::string::npos);
}

}  // namespace
}  // namespace gemmsmith
