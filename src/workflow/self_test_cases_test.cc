#include "workflow/self_test_cases.h"

#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <set>

#include "base/files.h"
#include "program/emit.h"

namespace gemmsmith {
namespace {

constexpr std::string_view kBroken =
    "// fault: caches the output by pointer\n"
    "// class: cache\n"
    "// expect: wrong|cheated\n"
    "// says: stale output\n"
    "// shape: 256x128x512\n"
    "// layout: nn\n"
    "// type: bf16\n"
    "// needs: cutlass\n"
    "//\n"
    "// note: not a key any more\n"
    "int x;\n";

Result<Case> Parse(std::string_view text) { return ParseCase("folder/some_case.cu", std::string(text)); }

void ExpectRefused(std::string_view text, std::string_view place, std::string_view words) {
  const Result<Case> read = Parse(text);
  ASSERT_FALSE(read.ok()) << text;
  EXPECT_EQ(read.status().code(), StatusCode::kInvalidArgument);
  EXPECT_TRUE(read.status().message().starts_with(place)) << read.status().message();
  EXPECT_NE(read.status().message().find(words), std::string::npos) << read.status().message();
}

TEST(ParseCase, ReadsEveryKeyOfABrokenKernel) {
  const Result<Case> read = Parse(kBroken);
  ASSERT_TRUE(read.ok()) << read.status().message();
  EXPECT_EQ(read->name, "some_case");
  EXPECT_EQ(read->subject, "caches the output by pointer");
  EXPECT_EQ(read->kind, "cache");
  EXPECT_EQ(read->expected, (std::vector{OutcomeKind::kWrong, OutcomeKind::kCheated}));
  EXPECT_EQ(read->says, "stale output");
  EXPECT_EQ(Print(read->gemm), "gemm 256x128x512 nn bf16 f32");
  EXPECT_TRUE(read->needs_cutlass);
  EXPECT_FALSE(read->is_honest());
  EXPECT_EQ(read->text, kBroken);
}

TEST(ParseCase, WhatIsLeftOutHasDefaults) {
  const Result<Case> read = Parse("// fault: x\r\n//expect:wrong\r\n// shape: 64x64x64\r\n");
  ASSERT_TRUE(read.ok()) << read.status().message();
  EXPECT_EQ(read->kind, "other");
  EXPECT_EQ(Print(read->gemm), "gemm 64x64x64 tn f16 f32");
  EXPECT_FALSE(read->needs_cutlass);
}

TEST(ParseCase, AStyleMakesItHonest) {
  const Result<Case> read = Parse("// style: plain CUDA\n// shape: 64x64x64\n");
  ASSERT_TRUE(read.ok()) << read.status().message();
  EXPECT_TRUE(read->is_honest());
  EXPECT_EQ(read->kind, "honest");
  EXPECT_EQ(read->subject, "plain CUDA");
}

TEST(ParseCase, APlanStandsForItsStandaloneFile) {
  const Result<Case> read = Parse("// style: emitted\n// shape: 64x64x512\n// layout: nn\n// plan: direct warps_k=4\n");
  ASSERT_TRUE(read.ok()) << read.status().message();
  const std::string emitted = EmitStandalone(*ParsePlan("direct warps_k=4"), {{64, 64, 512}, {kNn}});
  EXPECT_TRUE(read->text.ends_with("warps_k=4\n//\n" + emitted)) << read->text;
}

TEST(ParseCase, ABadHeaderIsNamedWithFileAndLine) {
  ExpectRefused("// style: x\n// shape: 64x64x64\n// plan: dirct\n", "folder/some_case.cu:3: ", "'dirct'");
  ExpectRefused("// style: x\n// shape: 64x64x64\n// plan: direct warps_m=4\n",
                "folder/some_case.cu:3: ", "instruction");
  ExpectRefused("// style: x\n// shape: 64x64x512\n// plan: direct\n\nint x;\n", "folder/some_case.cu:3: ", "not both");
  ExpectRefused("", "folder/some_case.cu:1: ", "the header lacks '// fault: what is wrong'");
  ExpectRefused("#include <cuda.h>\n// fault: too late\n", "folder/some_case.cu:1: ", "lacks '// fault:");
  ExpectRefused("// fault: x\n// shape: 64x64x64\n\n", "folder/some_case.cu:3: ", "lacks '// expect: wrong|cheated'");
  ExpectRefused("// fault: x\n// expect: wrong\n\n", "folder/some_case.cu:3: ", "lacks '// shape: 256x256x512'");
  ExpectRefused("// fault: x\n// expects: wrong\n", "folder/some_case.cu:2: ", "did you mean 'expect'?");
  ExpectRefused("// Kernel: x\n", "folder/some_case.cu:1: ", "'Kernel' is no key of a case's header, which has fault");
  ExpectRefused("// fault: x\n// fault: y\n", "folder/some_case.cu:2: ", "given twice");
  ExpectRefused("// fault:\n", "folder/some_case.cu:1: ", "'fault' has no value");
  ExpectRefused("// fault: x\n// expect: wrong|slow\n// shape: 64x64x64\n",
                "folder/some_case.cu:2: ", "'slow' is no outcome");
  ExpectRefused("// fault: x\n// expect: measured\n// shape: 64x64x64\n",
                "folder/some_case.cu:2: ", "'measured' is no outcome that ends a broken kernel");
  ExpectRefused("// fault: x\n// expect: wrong\n// shape: 64x64\n", "folder/some_case.cu:3: ", "64x64");
  ExpectRefused("// style: x\n// shape: 64x64x64\n// layout: nt\n", "folder/some_case.cu:3: ", "'nt' is no layout");
  ExpectRefused("// style: x\n// shape: 64x64x64\n// type: f32\n", "folder/some_case.cu:3: ", "'f32' is no type");
  ExpectRefused("// style: x\n// shape: 64x64x64\n// needs: torch\n", "folder/some_case.cu:3: ", "'torch'");
  ExpectRefused("// style: x\n// expect: wrong\n// shape: 64x64x64\n", "folder/some_case.cu:2: ", "exclude each other");
  ExpectRefused("// style: x\n// says: y\n// shape: 64x64x64\n", "folder/some_case.cu:2: ", "exclude each other");
}

TEST(ReadCases, AFolderWithoutCasesIsNotFound) {
  EXPECT_EQ(ReadCases("/no/such/folder").status().code(), StatusCode::kNotFound);
  const Result<TemporaryFolder> folder = TemporaryFolder::Create("cases");
  ASSERT_TRUE(folder.ok());
  EXPECT_EQ(ReadCases(folder->path()).status().code(), StatusCode::kNotFound);
}

TEST(ReadCases, ReadsTheSourcesOfAFolderInOrderAndNothingElse) {
  const Result<TemporaryFolder> folder = TemporaryFolder::Create("cases");
  ASSERT_TRUE(folder.ok());
  for (const char* name : {"b.cu", "a.cu"})
    std::ofstream(folder->path() / name) << "// style: " << name << "\n// shape: 64x64x64\n";
  std::ofstream(folder->path() / "README.md") << "no case\n";
  const Result<std::vector<Case>> cases = ReadCases(folder->path());
  ASSERT_TRUE(cases.ok()) << cases.status().message();
  ASSERT_EQ(cases->size(), 2u);
  EXPECT_EQ((*cases)[0].name, "a");
  EXPECT_EQ((*cases)[1].name, "b");
}

// The corpora of this repository.

std::vector<Case> Corpus(std::string_view name) {
  Result<std::vector<Case>> cases = ReadCases(std::filesystem::path(GEMMSMITH_SOURCE_DIR) / "tests" / name);
  EXPECT_TRUE(cases.ok()) << cases.status().message();
  return cases.ok() ? *std::move(cases) : std::vector<Case>();
}

TEST(Corpora, EachBrokenKernelHasAFaultOfItsOwnAndEveryClassHasSeveral) {
  std::set<std::string> faults;
  std::map<std::string, int> of_class;
  for (const Case& broken : Corpus("broken_kernels")) {
    EXPECT_FALSE(broken.is_honest()) << broken.name;
    EXPECT_TRUE(faults.insert(broken.subject).second) << broken.name << ": " << broken.subject;
    EXPECT_TRUE(broken.name.starts_with(broken.kind + "_")) << broken.name;
    EXPECT_LE(broken.expected.size(), 2u) << broken.name;
    ++of_class[broken.kind];
  }
  EXPECT_GE(faults.size(), 40u);
  for (const char* kind : {"timing", "cache", "memory", "process", "inputs", "numbers", "code"})
    EXPECT_GE(of_class[kind], 5) << kind;
  EXPECT_EQ(of_class.size(), 7u);
}

TEST(Corpora, ThereAreHonestKernelsOfManyStyles) {
  std::set<std::string> styles;
  for (const Case& honest : Corpus("honest_kernels")) {
    EXPECT_TRUE(honest.is_honest()) << honest.name;
    EXPECT_TRUE(styles.insert(honest.subject).second) << honest.name << ": " << honest.subject;
  }
  EXPECT_GE(styles.size(), 30u);
}

TEST(Corpora, HonestKernelsSayWhatTheyAreJudgedAs) {
  for (const Case& honest : Corpus("honest_kernels")) {
    const std::string descriptor = Print(Gemm{{1, 1, 1}, honest.gemm.kind}).replace(0, sizeof("gemm 1x1x1"), "gemm ");
    EXPECT_NE(honest.text.find("gemmsmith_descriptor_v1[] = \"" + descriptor + "\";"), std::string::npos)
        << honest.name << " has no \"" << descriptor << "\"";
  }
}

}  // namespace
}  // namespace gemmsmith
