#include "evaluate/baseline/shared_gemm.h"

#include <gtest/gtest.h>

#include <dlfcn.h>

#include <cstdlib>

#include "base/files.h"

namespace gemmsmith {
namespace {

std::string ReasonAgainst(const std::string& path) {
  const Result<std::unique_ptr<SharedGemm>> gemm = SharedGemm::Open(path);
  EXPECT_FALSE(gemm.ok()) << path;
  return gemm.ok() ? "" : gemm.status().message();
}

// A shared object of this text, or nothing where there is no compiler.
std::string Build(const std::string& name, const std::string& text) {
  const std::filesystem::path folder = std::filesystem::path(testing::TempDir()) / ("shared_gemm_" + name);
  std::filesystem::create_directories(folder);
  EXPECT_TRUE(WriteFileAtomic(folder / "gemm.cc", text).ok());
  const std::string object = folder / "gemm.so";
  const std::string command =
      fmt::format("c++ -shared -fPIC -o '{}' '{}' 2>/dev/null", object, (folder / "gemm.cc").string());
  return std::system(command.c_str()) == 0 ? object : "";
}

constexpr const char* kDescriptor = "extern \"C\" const char gemmsmith_descriptor_v1[] = \"gemm nn bf16 f32\";\n";
constexpr const char* kFunction =
    "extern \"C\" int gemm(const void* a, const void*, void* c, int m, int n, int k, void*, unsigned long bytes, "
    "void*) "
    "{ *(int*)c = m + 10 * n + 100 * k + (int)bytes; return a == nullptr ? 700 : 0; }\n";

TEST(ParseDescriptor, TakesALayoutATypeAndAnAccumulation) {
  EXPECT_EQ(*ParseDescriptor("gemm tn f16 f32"), GemmKind{});
  EXPECT_EQ(*ParseDescriptor("gemm nn bf16 f32"), (GemmKind{kNn, ScalarType::kBf16}));
  for (const char* text : {"", "gemm", "gemm tn", "gemm tn f16", "gemm tn f16 f32 lda=99", "gemm tn f16 f32 x",
                           "gemm 64x64x64 tn f16 f32", "tn f16 f32", "gemm xx f16 f32"})
    EXPECT_FALSE(ParseDescriptor(text).ok()) << text;
}

TEST(SharedGemm, WhatIsNoneSaysWhy) {
  EXPECT_NE(ReasonAgainst("/nowhere/kernel.so").find("does not load"), std::string::npos);
  EXPECT_NE(ReasonAgainst("no_slash.so").find("./no_slash.so"), std::string::npos) << "no library of the system";
  const std::string bare = Build("bare", kFunction), idle = Build("idle", kDescriptor),
                    wrong = Build("wrong", "extern \"C\" const char gemmsmith_descriptor_v1[] = \"gemm\";");
  if (bare.empty()) GTEST_SKIP() << "no C++ compiler";
  EXPECT_EQ(ReasonAgainst(bare), "it has no gemmsmith_descriptor_v1");
  EXPECT_EQ(ReasonAgainst(idle), "it has no function 'gemm'");
  EXPECT_NE(ReasonAgainst(wrong).find("its descriptor is 'gemm'"), std::string::npos);
}

TEST(SharedGemm, IsCalledWithTheArgumentsOfTheAbi) {
  const std::string path = Build("whole", std::string(kDescriptor) + kFunction);
  if (path.empty()) GTEST_SKIP() << "no C++ compiler";
  const Result<std::unique_ptr<SharedGemm>> gemm = SharedGemm::Open(path);
  ASSERT_TRUE(gemm.ok()) << gemm.status().message();
  const GemmKind kind{kNn, ScalarType::kBf16};
  EXPECT_EQ((*gemm)->kind(), kind);
  EXPECT_EQ((*gemm)->Refuses({{8, 8, 8}, kind}), "");
  EXPECT_EQ((*gemm)->Refuses({{8, 8, 8}, {kTn}}), "it is made for nn bf16 f32, the problem is tn f16 f32");
  EXPECT_NE((*gemm)->Refuses({{8, 8, 8}, kind, 64}), "");
  int c = 0, a = 0;
  EXPECT_TRUE((*gemm)->Call({1, 2, 3}, {&a, nullptr, &c}, nullptr, 1000, nullptr).ok());
  EXPECT_EQ(c, 1 + 20 + 300 + 1000);
  const Status failed = (*gemm)->Call({1, 2, 3}, {nullptr, nullptr, &c}, nullptr, 0, nullptr);
  EXPECT_NE(failed.message().find("700"), std::string::npos);
}

}  // namespace
}  // namespace gemmsmith
