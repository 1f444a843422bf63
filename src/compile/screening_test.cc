#include "compile/screening.h"

#include <gtest/gtest.h>

#include <fstream>

#include "base/files.h"
#include "base/sandbox.h"
#include "base/subprocess.h"
#include "base/text.h"
#include "compile/fatbin.h"
#include "compile/shared_object.h"
#include "program/emit.h"

namespace gemmsmith {
namespace {

using Bytes = std::vector<uint8_t>;

bool Mentions(const std::vector<std::string>& reasons, std::string_view words) {
  return Join(reasons, "\n").find(words) != std::string::npos;
}

// Host code alone, by g++: quick, and all that most refusals need.
Bytes Host(const std::string& text, std::vector<std::string> options = {}) {
  const TemporaryFolder folder = *TemporaryFolder::Create("gemmsmith-screening-test");
  std::ofstream(folder.path() / "host.cc") << text;
  const std::string object = folder.path() / "host.so";
  std::vector<std::string> command = {"g++", "-shared", "-fPIC", "-O2", "-o", object, folder.path() / "host.cc"};
  command.insert(command.end(), options.begin(), options.end());
  const ProcessResult process = *RunProcess(command, std::chrono::seconds(60));
  EXPECT_EQ(process.exit_code, 0) << process.output;
  const std::string bytes = *ReadFile(object);
  return {bytes.begin(), bytes.end()};
}

const std::string kContract = "extern \"C\" const char gemmsmith_descriptor_v1[] = \"gemm tn f16 f32\";\n";

void ExpectRefused(const std::string& text, std::string_view words, std::vector<std::string> options = {}) {
  const std::vector<std::string> reasons = ScreenSharedObject(Host(kContract + text, std::move(options)));
  EXPECT_TRUE(Mentions(reasons, words)) << Join(reasons, "\n") << "\nfor " << text;
}

TEST(ScreenSharedObject, HarmlessHostCodeIsTaken) {
  const auto reasons =
      ScreenSharedObject(Host(kContract + "#include <cstdio>\n#include <cmath>\n#include <vector>\n"
                                          "#include <iostream>\n#include <string>\n#include <cassert>\n"
                                          "extern \"C\" int gemm(int n) { assert(n > 0); std::vector<int> v(n);\n"
                                          "  std::printf(\"%f\", std::sqrt(double(n)) + powf(n, 1.5f));\n"
                                          "  std::cerr << std::to_string(n) << v[0]; static std::string s(n, 'x');\n"
                                          "  return s.size(); }\n"));
  EXPECT_EQ(reasons, std::vector<std::string>{});
}

TEST(ScreenSharedObject, NamesWhatAnImportWouldAllow) {
  ExpectRefused("#include <unistd.h>\nint gemm() { return fork(); }", "imports fork, which starts processes");
  ExpectRefused("#include <stdlib.h>\nint gemm() { return system(\"ls\"); }", "imports system, which starts programs");
  ExpectRefused("#include <dlfcn.h>\nvoid* gemm() { return dlsym(0, \"x\"); }", "finds functions past this list");
  ExpectRefused("#include <thread>\nvoid gemm() { std::thread([] {}).join(); }", "starts threads");
  ExpectRefused(
      "#include <chrono>\nlong gemm() { return std::chrono::steady_clock::now().time_since_epoch().count(); }",
      "looks at the clock");
  ExpectRefused("#include <iostream>\nint gemm() { int x; std::cin >> x; return x; }", "reads input");
  ExpectRefused("#include <new>\nvoid gemm() { std::set_new_handler(nullptr); }", "runs code behind the call's back");
  ExpectRefused("#include <fstream>\nvoid gemm() { std::ofstream(\"/tmp/x\") << 1; }", "opens files");
  ExpectRefused(
      "extern \"C\" int cudaMalloc(void**, unsigned long);\nint gemm() { void* p; return cudaMalloc(&p, 8); }",
      "imports cudaMalloc, which takes memory beyond the workspace");
  ExpectRefused("extern \"C\" int cublasGemmEx();\nint gemm() { return cublasGemmEx(); }", "calls cuBLAS");
  ExpectRefused("namespace at { int matmul(int); }\nint gemm() { return at::matmul(1); }", "calls torch");
  ExpectRefused("extern \"C\" int unheard_of();\nint gemm() { return unheard_of(); }", "is not on the list");
}

TEST(ScreenSharedObject, RefusesWhatTheLoaderWouldDoForIt) {
  ExpectRefused("__attribute__((constructor)) static void early() { asm volatile(\"\"); }\nint gemm() { return 1; }",
                "run while it is loaded");
  ExpectRefused(
      "extern \"C\" { int one() { return 1; } int (*choose())() { return one; }\n"
      "int two() __attribute__((ifunc(\"choose\"))); }\nint gemm() { return two(); }",
      "IFUNC");
  ExpectRefused(
      "extern \"C\" __attribute__((used, visibility(\"hidden\"))) void early() {}\n"
      "asm(\".pushsection .init, \\\"ax\\\", @progbits\\n call early\\n .popsection\");\nint gemm() { return 1; }",
      "code of its own in section .init");
  ExpectRefused("int gemm() { return 1; }", "looks for libraries in /tmp", {"-Wl,-rpath,/tmp"});
  ExpectRefused("int gemm() { return 1; }", "needs the library libdl", {"-Wl,--no-as-needed", "-l:libdl.so.2"});
}

TEST(ScreenSharedObject, AConstructorOfAGlobalIsOrdinary) {
  const auto reasons = ScreenSharedObject(
      Host(kContract +
           "extern \"C\" int puts(const char*);\nstruct S { S() { puts(\"x\"); } } s;\nint gemm() { return 1; }"));
  EXPECT_EQ(reasons, std::vector<std::string>{});
}

TEST(ScreenSharedObject, RefusesSystemCallsOfItsOwn) {
  ExpectRefused(
      "int gemm() { long r; asm volatile(\"syscall\" : \"=a\"(r) : \"a\"(57) : \"rcx\", \"r11\"); return r; }",
      "enters the kernel by itself");
  ExpectRefused("int gemm() { long r; asm volatile(\".byte 0x0f, 0x05\" : \"=a\"(r) : \"a\"(57)); return r; }",
                "enters the kernel by itself");
}

TEST(ScreenSharedObject, RefusesFunctionsThatStandInForOthers) {
  ExpectRefused("extern \"C\" int cudaEventRecord() { return 0; }\nint gemm() { return 1; }",
                "stands in for the library's own");
  ExpectRefused("extern \"C\" int cuLaunchKernel() { return 0; }\nint gemm() { return 1; }",
                "stands in for the library's own");
}

TEST(ScreenSharedObject, RefusesAClockOfItsOwn) {
  ExpectRefused("extern \"C\" int clock_gettime(int, void*) { return 0; }\nint gemm() { return 1; }",
                "clock_gettime stands in");
}

TEST(ScreenSharedObject, RefusesMachineCodeInAnotherPlace) {
  ExpectRefused("extern const unsigned hidden[] = {1, 0xba55ed50, 0x100001, 0};\nint gemm() { return 1; }",
                "carries machine code of the GPU in section .rodata");
  ExpectRefused("extern const unsigned wrapper[] = {0x466243b1, 1, 0, 0, 0, 0};\nint gemm() { return 1; }",
                "carries machine code of the GPU in section .rodata");
  ExpectRefused(
      "int elsewhere[9]; struct W { unsigned magic, one; void* code; void* none; };\n"
      "__attribute__((section(\".nvFatBinSegment\"))) W wrapper = {0x466243b1, 1, elsewhere, 0};\n"
      "int gemm() { return 1; }",
      "hands machine code to the runtime that stands elsewhere");
}

TEST(ScreenSharedObject, RefusesWhatIsTooLargeToBeSent) {
  EXPECT_TRUE(Mentions(ScreenSharedObject(std::vector<uint8_t>(kMaxObjectBytes + 1)), "67108864 are allowed"));
}

TEST(ScreenSharedObject, TakesAnyBytes) {
  EXPECT_FALSE(ScreenSharedObject({}).empty());
  const Bytes good = Host(kContract + "int gemm() { return 1; }");
  for (size_t cut = 0; cut < good.size(); cut += 101)
    EXPECT_FALSE(ScreenSharedObject(std::span(good).first(cut)).empty());
  for (size_t at = 0; at < good.size(); at += 37) {
    Bytes damaged = good;
    damaged[at] ^= 0xff;
    static_cast<void>(ScreenSharedObject(damaged));
    static_cast<void>(ReadDescriptor(damaged));
  }
}

TEST(ReadDescriptor, IsWhatTheObjectSays) {
  EXPECT_EQ(*ReadDescriptor(Host(kContract + "extern \"C\" int gemm() { return 1; }")), "gemm tn f16 f32");
  EXPECT_EQ(*ReadDescriptor(Host("#define WORDS \"gemm \" \"nn bf16 f32\"\nextern \"C\" { extern const char\n"
                                 "gemmsmith_descriptor_v1[] = WORDS; int gemm() { return 1; } }")),
            "gemm nn bf16 f32");
}

TEST(ReadDescriptor, SaysWhatIsMissing) {
  EXPECT_NE(ReadDescriptor(Host(kContract + "int other() { return 1; }")).status().message().find("no function gemm"),
            std::string::npos);
  EXPECT_NE(ReadDescriptor(Host("extern \"C\" int gemm() { return 1; }")).status().message().find("no descriptor"),
            std::string::npos);
}

TEST(WhyNotImport, KnowsTheMostUsedOfBothSides) {
  for (const char* name :
       {"cudaLaunchKernel", "cudaMemsetAsync", "__cudaPushCallConfiguration", "memcpy", "sqrtf", "fma",
        "cudaGetDriverEntryPointByVersion", "_Znwm", "_ZdlPvm", "_ZSt20__throw_length_errorPKc", "__cxa_guard_acquire",
        "cudaOccupancyMaxActiveClusters", "printf", "_ZTIi", "__udivti3", "__once_proxy", "__isoc23_strtol",
        "__ctype_b_loc", "cudaGetDeviceCount"})
    EXPECT_EQ(WhyNotImport(name), "") << name;
  for (const char* name : {"cudaMallocAsync",
                           "cudaMallocManaged",
                           "cudaHostAlloc",
                           "cudaStreamCreateWithFlags",
                           "cudaEventRecord",
                           "cudaEventElapsedTime",
                           "cudaGraphLaunch",
                           "cudaStreamBeginCapture",
                           "cudaDeviceSetLimit",
                           "cudaStreamSetAttribute",
                           "cudaCtxResetPersistingL2Cache",
                           "cudaLaunchHostFunc",
                           "cudaStreamAddCallback",
                           "cudaIpcOpenMemHandle",
                           "cudaMemcpyPeerAsync",
                           "cudaMemcpy",
                           "cuLaunchKernel",
                           "cublasLtMatmul",
                           "nvrtcCompileProgram",
                           "execve",
                           "vfork",
                           "clone",
                           "socket",
                           "connect",
                           "dlopen",
                           "ptrace",
                           "mmap",
                           "mprotect",
                           "sigaction",
                           "signal",
                           "pthread_create",
                           "clock_gettime",
                           "gettimeofday",
                           "open",
                           "openat",
                           "fopen",
                           "getenv",
                           "syscall",
                           "read",
                           "write",
                           "kill"})
    EXPECT_NE(WhyNotImport(name), "") << name;
}

TEST(CubinsOf, RefusesWhatIsNotPlainMachineCode) {
  EXPECT_TRUE(CubinsOf({})->empty());
  Bytes ptx(16 + 64 + 8, 0);
  const uint32_t magic = kFatbinMagic;
  std::memcpy(ptx.data(), &magic, 4);
  ptx[4] = 1, ptx[6] = 16, ptx[8] = 64 + 8;
  ptx[16] = 1, ptx[20] = 64, ptx[24] = 8;
  EXPECT_NE(CubinsOf(ptx).status().message().find("kind 1"), std::string::npos);
  ptx[16] = 2;
  EXPECT_EQ(CubinsOf(ptx)->size(), 1u);
  ptx[16 + 41] = 0x20;
  EXPECT_NE(CubinsOf(ptx).status().message().find("compressed"), std::string::npos);
  for (size_t cut = 1; cut < ptx.size(); ++cut) EXPECT_FALSE(CubinsOf(std::span(ptx).first(cut)).ok());
}

}  // namespace
}  // namespace gemmsmith
