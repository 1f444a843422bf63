#include "corpus/clean/code_snippets.h"

#include <gtest/gtest.h>

#include "corpus/clean/author_words.h"
#include "corpus/clean/code_items.h"

namespace gemmsmith {
namespace {

std::vector<Snippet> Cut(const std::string& code) {
  return CutCode({.text = code, .source = "s", .path = "p.cu", .license = "MIT"});
}

// "kernel:Name", "function:Name" and so on.
std::vector<std::string> NamesOf(const std::string& code) {
  constexpr const char* kKinds[] = {"kernel", "function", "type", "value", "other"};
  std::vector<std::string> names;
  for (const CodeItem& item : CodeItems(code, CppTokens(code, CppComments::kKept)))
    names.push_back(std::string(kKinds[size_t(item.kind)]) + ":" + item.name);
  return names;
}

TEST(CodeItemsTest, DefinitionsOfAllKinds) {
  EXPECT_EQ(
      NamesOf("#include <x>\n#define TILE 16\nnamespace a { namespace b::c {\n"
              "using T = int;\nconstexpr int kSize = 4;\nstatic const float kTable[] = {1, 2};\n"
              "struct Params { int m; };\nenum class Mode { kA, kB };\n"
              "template <int N, class = enable_if_t<(N > 3)>>\n__device__ int f(int x = 3) { return x; }\n"
              "__global__ void __launch_bounds__(128) k(Params p) { if (p.m) { f(1); } }\n"
              "template __global__ void g<3>(int);\nint declared(int);\n}}\nextern \"C\" {\nint h() { return 0; }\n}"),
      (std::vector<std::string>{"value:TILE", "value:T", "value:kSize", "value:kTable", "type:Params", "type:Mode",
                                "function:f", "kernel:k", "other:", "other:", "function:h"}));
}

TEST(CodeItemsTest, MacrosAndAttributes) {
  EXPECT_EQ(NamesOf("CUTLASS_HOST_DEVICE\nvoid f() {}\nstruct CUTLASS_ALIGN(16) Vec { int x; };\n"
                    "_CCCL_BEGIN_NAMESPACE_STD\nbool operator==(A a, A b) { return true; }\n"
                    "Foo::Foo() : a(1) { run(); }\nstruct X* make(int n) { return 0; }\n"),
            (std::vector<std::string>{"function:f", "type:Vec", "function:operator", "function:Foo", "function:make"}));
}

TEST(CodeItemsTest, BracketsInStringsAndBranchesDoNotCount) {
  EXPECT_EQ(NamesOf("void a() { const char* s = \"}\"; char c = '{'; auto r = R\"x()}\" )x\"; int n = 1'000; }\n"
                    "void b() {\n#if X\nif (x) {\n#else\nif (y) {\n#endif\n}\n}\nvoid c() {}\n"),
            (std::vector<std::string>{"function:a", "function:b", "function:c"}));
}

TEST(CodeItemsTest, AnyCutEnds) {
  const std::string code =
      "template <int N>\n__global__ void k(int* p) {\n  p[0] = \"x\\\"}\"[N];\n}\n#define X(a) \\\n  a\nR\"y(z)y\" '";
  for (size_t size = 0; size <= code.size(); ++size)
    for (const CodeItem& item : CodeItems(code.substr(0, size), CppTokens(code.substr(0, size), CppComments::kKept)))
      EXPECT_LE(item.first_token, item.last_token);
}

const std::string kFile = R"(// Copyright 2026, someone.

/// Adds one to each element.
/// \param p the elements
__device__ int add_one(int p) { return p + kOne; }

constexpr int kOne = 1;
constexpr int kUnused = 2;

__device__ void other() {
  int a = 0;
  a += 1;
}

// Increments every element of an array,
// one thread for each.
__global__ void increment(int* p, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) p[i] = add_one(p[i]);
}
)";

TEST(CodeSnippetsTest, AKernelComesWithItsHelpers) {
  const std::vector<Snippet> snippets = Cut(kFile);
  ASSERT_EQ(snippets.size(), 2u);
  const Snippet& kernel = snippets[1];
  EXPECT_EQ(kernel.kind, SnippetKind::kKernel);
  EXPECT_EQ(kernel.title, "increment");
  EXPECT_EQ(kernel.line, 17);
  EXPECT_EQ(kernel.instruction, "Increments every element of an array, one thread for each.");
  EXPECT_EQ(kernel.instruction_by, kByComment);
  EXPECT_TRUE(kernel.text.starts_with("/// Adds one")) << kernel.text;
  EXPECT_NE(kernel.text.find("constexpr int kOne = 1;"), std::string::npos);
  EXPECT_EQ(kernel.text.find("kUnused"), std::string::npos);
  EXPECT_EQ(kernel.text.find("Increments every"), std::string::npos);
  EXPECT_EQ(kernel.license, "MIT");
}

TEST(CodeSnippetsTest, WhatNoKernelUsesStandsByItself) {
  EXPECT_EQ(Cut(kFile)[0].title, "other");
  EXPECT_EQ(Cut(kFile)[0].instruction, "");
}

TEST(CodeSnippetsTest, TypesWithoutACommentAreCutIntoFunctionsWithOne) {
  const std::vector<Snippet> snippets =
      Cut("struct Tile {\n  int rows;\n public:\n  /// Copies the tile to global memory.\n  __device__ void Store() {\n"
          "    a();\n    b();\n  }\n  void Other() {\n    c();\n    d();\n  }\n};\n");
  ASSERT_EQ(snippets.size(), 2u);
  EXPECT_EQ(snippets[0].kind, SnippetKind::kType);
  EXPECT_EQ(snippets[1].title, "Tile::Store");
  EXPECT_EQ(snippets[1].instruction, "Copies the tile to global memory.");
  EXPECT_EQ(snippets[1].text, "__device__ void Store() {\n    a();\n    b();\n  }\n");
}

TEST(CodeSnippetsTest, FilesWithoutCudaGiveNothing) { EXPECT_TRUE(Cut("void f() {\n  int a;\n  a = 1;\n}\n").empty()); }

TEST(CodeSnippetsTest, SharedHelpersDoNotGrowWithoutEnd) {
  std::string code = "// cuda\n";
  for (int i = 0; i < 2000; ++i)
    code += "void f" + std::to_string(i) + "()\n{\nf" + std::to_string((i + 7) % 2000) + "();\n}\n";
  size_t bytes = 0;
  for (const Snippet& snippet : Cut(code)) bytes += snippet.text.size();
  EXPECT_LT(bytes, 6 * code.size() + (64 << 10));
}

TEST(AuthorWordsTest, CommentsThatSayWhatItDoes) {
  EXPECT_EQ(InstructionIn("/** \\brief Copies a tile\n *  to shared memory.\n */"), "Copies a tile to shared memory.");
  EXPECT_EQ(InstructionIn("//////////\n/// Loads one fragment\n//////////"), "Loads one fragment");
  for (const char* comment :
       {"// TODO: make this fast again", "// Copyright (c) 2026 someone else here", "// short", "////////////////",
        "// int i = threadIdx.x; foo(i);", "// } namespace detail of cutlass", "/* x = (a + b) * c / d - 7; */"})
    EXPECT_EQ(InstructionIn(comment), "") << comment;
  std::string long_comment = "//";
  for (int i = 0; i < 500; ++i) long_comment += " words";
  EXPECT_LE(InstructionIn(long_comment).size(), 600u);
}

}  // namespace
}  // namespace gemmsmith
