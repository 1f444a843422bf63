#include "compile/narrow_headers.h"

#include <gtest/gtest.h>

#include "compile/source_program.h"

namespace gemmsmith {
namespace {

std::string Selected(std::string_view headers, const Names& own, const Names& fixed = {}) {
  const Result<Declarations> read = Declarations::Read(headers);
  EXPECT_TRUE(read.ok()) << read.status().message();
  return read.ok() ? read->Select(own, fixed).value_or("all") : "";
}

TEST(Declarations, AreChosenWithAllThatTheyMention) {
  constexpr std::string_view kHeaders =
      "struct A { int x; };\ntypedef struct A B;\nB f(B value);\nint g(int f);\ninline int h() { return sizeof(B); }\n";
  EXPECT_EQ(Selected(kHeaders, {"f"}), "struct A { int x; };\ntypedef struct A B;\nB f(B value);\n");
  EXPECT_EQ(Selected(kHeaders, {"g"}), "int g(int f);\n") << "f is its parameter";
  EXPECT_EQ(Selected(kHeaders, {}, {"h"}),
            "struct A { int x; };\ntypedef struct A B;\ninline int h() { return sizeof(B); }\n");
  EXPECT_EQ(Selected(kHeaders, {"value", "x"}), "");
}

TEST(Declarations, OverloadsAndOperatorsComeTogether) {
  constexpr std::string_view kHeaders =
      "int min(int a, int b);\nlong min(long a, long b);\nstruct H {};\nH operator+(const H& a, const H& b);\n"
      "template <class T> typename X<sizeof(T) >= 2>::type min(T a, T b) { return a; }\n";
  EXPECT_EQ(Selected(kHeaders, {"H"}), "struct H {};\nH operator+(const H& a, const H& b);\n");
  const std::string overloads = Selected(kHeaders, {"min"});
  EXPECT_NE(overloads.find("long min"), std::string::npos);
  EXPECT_NE(overloads.find("template <class T>"), std::string::npos);
  EXPECT_EQ(overloads.find("operator"), std::string::npos);
}

TEST(Declarations, MacrosComeLastAndBringTheirNames) {
  EXPECT_EQ(Selected("#define F(x) g(x)\nint g(int x);\n# 5 \"file.h\"\nint h;\n#define G 1\n#undef G\n", {"F"}),
            "int g(int x);\n#define F(x) g(x)\n#undef G\n");
}

TEST(Declarations, ANamespaceThatIsNamedNeedsEverything) {
  constexpr std::string_view kHeaders =
      "namespace std { int abs(int); }\nusing std::abs;\nint f() { return abs(1); }\nstd::size_t s();\n";
  EXPECT_EQ(Selected(kHeaders, {"std"}), "all");
  EXPECT_EQ(Selected(kHeaders, {"s"}), "all");
  EXPECT_EQ(Selected(kHeaders, {"abs"}), "all") << "the source would see std's";
  EXPECT_EQ(Selected(kHeaders, {"f"}), "int f() { return abs(1); }\n");
}

TEST(Declarations, ThatAreNotUnderstoodAreAnError) {
  for (const std::string_view text : {"int f(;", "struct A {", "int a", "template <class T", "}"}) {
    const Result<Declarations> read = Declarations::Read(text);
    EXPECT_FALSE(read.ok()) << text;
  }
}

TEST(NarrowHeaders, SourcesThatMayNeedAnythingAreLeftAlone) {
  EXPECT_EQ(NamesOfSource("// x\n#include <cuda_runtime.h>\nint f;\n")->includes,
            std::vector<std::string>{"cuda_runtime.h"});
  for (const std::string_view text :
       {"#include <vector>\n", "#include \"cuda.h\"\n", "int a;\n#include <cuda.h>\n",
        "#define I <cuda.h>\n#include I\n", "#incl\\\nude <vector>\n", "#define P(a) a##b\n", "%:include <vector>\n",
        "int a = __COUNTER__;", "#if __has_include(<vector>)\n#endif\n", "_Pragma(x) pop_macro"})
    EXPECT_FALSE(NamesOfSource(text)) << text;
  EXPECT_TRUE(NamesOfSource("#define M(a) \\\n a\nint b;")->names.contains("a"));
}

constexpr std::string_view kSource = R"(// A small one.
#include <cuda.h>
#include <cuda_runtime.h>
#include <cstdint>
extern "C" const char gemmsmith_descriptor_v1[] = "gemm tn f16 f32";
__global__ void __launch_bounds__(32) first(const float2* a, float* c, int m) {
  const float2 pair = __ldg(a + blockIdx.x);
  c[min(int(threadIdx.x), m)] = __shfl_xor_sync(0xffffffff, pair.x + fmaxf(pair.y, 1), 1);
}
extern "C" cudaError_t gemm(const void* a, const void*, void* c, int m, int, int, void*, size_t, cudaStream_t stream) {
  first<<<max(m, 1), 32, 0, stream>>>(static_cast<const float2*>(a), static_cast<float*>(c), m);
  return cudaGetLastError();
}
)";

TEST(NamesOfSource, ATextThatIsReadOtherwiseByTheCompilerNeedsEverything) {
  for (const std::string_view text :
       {"const char* a = R\"( )\";", "const char* a = u8R\"x( )x\";", "#define A /*\n*/ int b;"})
    EXPECT_FALSE(NamesOfSource(text)) << text;
  EXPECT_TRUE(NamesOfSource("/* a */ int b;  // \"r\"\n"));
}

// The first source of a compiler gets all headers.
TEST(NarrowHeaders, MakeTheSameMachineCodeAndFailuresGetAllHeaders) {
  const Result<std::unique_ptr<SourceCompiler>> compiler = MakeSourceCompiler();
  if (!compiler.ok()) GTEST_SKIP() << compiler.status().message();
  const std::string text(kSource);
  const Result<SourceCompilation> all = (*compiler)->Compile(text, "sm_90a"),
                                  few = (*compiler)->Compile(text, "sm_90a");
  ASSERT_TRUE(all.ok() && few.ok());
  ASSERT_TRUE(all->program && few->program) << all->log << few->log;
  EXPECT_FALSE(all->has_narrow_headers);
  EXPECT_TRUE(few->has_narrow_headers);
  EXPECT_EQ(all->program->cubins, few->program->cubins);
  EXPECT_EQ(all->log, few->log);

  const Result<SourceCompilation> broken = (*compiler)->Compile(text + "int f() { return nowhere; }\n", "sm_90a");
  ASSERT_TRUE(broken.ok());
  EXPECT_FALSE(broken->program || broken->has_narrow_headers);
  EXPECT_NE(broken->log.find("nowhere"), std::string::npos);
}

}  // namespace
}  // namespace gemmsmith
