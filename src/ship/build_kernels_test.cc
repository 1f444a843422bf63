#include "ship/build_kernels.h"

#include <gtest/gtest.h>

#include <tuple>

#include "campaign/fakes.h"
#include "program/family.h"

namespace gemmsmith {
namespace {

Entry EntryFor(const Gemm& gemm, const Plan& plan) {
  return {.gemm = gemm,
          .plan = plan,
          .date = "2026-11-22",
          .harness = "gemmsmith 0.1.0 abc",
          .times = {{"device", 1000, {990, 1010}, 1.5, {1.4, 1.6}}}};
}

Plan Known(FixedDimensions fixed) { return WithFixed(*ParsePlan("direct tile_m=32 tile_n=32"), fixed); }

const Gemm kOne{{64, 128, 512}, {kTn}}, kTwo{{128, 128, 1024}, {kTn}};

TEST(BuildKernels, ProblemsShareWhatBecomesOneText) {
  Catalogue catalogue("h200");
  catalogue.Put(EntryFor(kOne, Known(FixedDimensions::kNone)));
  catalogue.Put(EntryFor(kTwo, Known(FixedDimensions::kNone)));
  FakeCompiler compiler;
  size_t told = 0;
  const Result<KernelFile> file = BuildKernels(
      catalogue, compiler, {.compile_threads = 2, .on_progress = [&](size_t done, size_t) { told = done; }});
  ASSERT_TRUE(file.ok()) << file.status().message();
  EXPECT_EQ(file->kernels().size(), 2u) << "one for f16, one for bf16";
  EXPECT_EQ(file->problems().size(), 4u);
  EXPECT_EQ(compiler.calls, 2);
  EXPECT_EQ(told, 2u);
  EXPECT_EQ(file->Find(kOne, Known(FixedDimensions::kNone)), file->Find(kTwo, Known(FixedDimensions::kNone)));
  EXPECT_FALSE(file->Find(kOne, Known(FixedDimensions::kNone))->entry.empty());
}

TEST(BuildKernels, KnownDimensionsMakeKernelsOfTheirOwn) {
  Catalogue catalogue("h200");
  catalogue.Put(EntryFor(kOne, Known(FixedDimensions::kAll)));
  catalogue.Put(EntryFor(kTwo, Known(FixedDimensions::kAll)));
  FakeCompiler compiler;
  const Result<KernelFile> file = BuildKernels(catalogue, compiler, {.compile_threads = 2});
  ASSERT_TRUE(file.ok()) << file.status().message();
  EXPECT_EQ(file->kernels().size(), 6u) << "for each type two with dimensions, and one without";
  Gemm other = kOne;
  other.kind.type = ScalarType::kBf16;
  for (const auto& [gemm, plan, is_derived] : {std::tuple{kOne, Known(FixedDimensions::kAll), false},
                                               {kOne, Known(FixedDimensions::kNone), true},
                                               {other, Known(FixedDimensions::kAll), true}}) {
    const auto found = file->problems().find({gemm, plan});
    ASSERT_NE(found, file->problems().end()) << Print(gemm) << " by " << Print(plan);
    EXPECT_EQ(found->second.is_derived, is_derived);
    EXPECT_EQ(found->second.time_ns, 1000);
  }
}

TEST(BuildKernels, ATypeWithAnEntryOfItsOwnIsNotDerived) {
  Gemm other = kOne;
  other.kind.type = ScalarType::kBf16;
  Catalogue catalogue("h200");
  catalogue.Put(EntryFor(kOne, Known(FixedDimensions::kNone)));
  catalogue.Put(EntryFor(other, Known(FixedDimensions::kNone)));
  FakeCompiler compiler;
  const Result<KernelFile> file = BuildKernels(catalogue, compiler, {.compile_threads = 2});
  ASSERT_TRUE(file.ok()) << file.status().message();
  EXPECT_EQ(file->problems().size(), 2u);
  for (const auto& [problem, assignment] : file->problems()) EXPECT_FALSE(assignment.is_derived);
}

TEST(BuildKernels, AnEntryThatIsIllegalOrDoesNotCompileEndsItByItsName) {
  Catalogue illegal("h200");
  illegal.Put(EntryFor(kOne, *ParsePlan("direct warps_m=4 warps_k=16")));
  FakeCompiler compiler;
  Status status = BuildKernels(illegal, compiler, {.compile_threads = 2}).status();
  EXPECT_NE(status.message().find(Print(kOne)), std::string::npos) << status.message();
  EXPECT_NE(status.message().find("illegal"), std::string::npos) << status.message();
  EXPECT_EQ(compiler.calls, 0);

  class Refusing : public Compiler {
   public:
    Result<Compilation> Compile(const Source&, std::string_view) override { return Compilation{.log = "no such word"}; }
    std::string Identity() const override { return "refuses"; }
  } refusing;
  Catalogue catalogue("h200");
  catalogue.Put(EntryFor(kOne, Known(FixedDimensions::kAll)));
  status = BuildKernels(catalogue, refusing, {.compile_threads = 2}).status();
  EXPECT_NE(status.message().find("gemm 64x128x512 tn"), std::string::npos) << status.message();
  EXPECT_NE(status.message().find("compile_failed"), std::string::npos) << status.message();
}

TEST(BuildKernels, APlanForAnyProblemHasAKernelForEachText) {
  const Plan plan = *ParsePlan("wgmma tile_m=64 tile_n=64 warpgroups=1 step_k=128");
  Catalogue catalogue("h200");
  catalogue.Put(EntryFor({{64, 64, 4096}, {kTn}}, plan));
  FakeCompiler compiler;
  const Result<KernelFile> file = BuildKernels(catalogue, compiler, {.general = {plan}, .compile_threads = 2});
  ASSERT_TRUE(file.ok()) << file.status().message();
  // Two types; one operand in panels across k, both, or none: deep copies of each operand along k, or not.
  EXPECT_EQ(file->general().at(plan).size(), 2u * (2 + 2 + 2 + 1)) << "k aligned and not, but for col-row";
  EXPECT_EQ(file->kernels().size(), file->general().at(plan).size()) << "the entry's is one of them";
}

TEST(BuildKernels, APlanThatKnowsDimensionsIsNotForAnyProblem) {
  const Plan plan = Known(FixedDimensions::kAll);
  FakeCompiler compiler;
  const Status status = BuildKernels(Catalogue("h200"), compiler, {.general = {plan}, .compile_threads = 1}).status();
  EXPECT_NE(status.message().find("knows dimensions"), std::string::npos) << status.message();
}

TEST(BuildKernels, ADerivedKernelThatDoesNotPassIsLeftOut) {
  class RefusesTheGeneral : public FakeCompiler {
   public:
    Result<Compilation> Compile(const Source& source, std::string_view architecture) override {
      if (source.text.find("kFixedK = 0;") != std::string::npos) return Compilation{.log = "no such word"};
      return FakeCompiler::Compile(source, architecture);
    }
  } compiler;
  Catalogue catalogue("h200");
  catalogue.Put(EntryFor(kOne, Known(FixedDimensions::kAll)));
  const Result<KernelFile> file = BuildKernels(catalogue, compiler, {.compile_threads = 2});
  ASSERT_TRUE(file.ok()) << file.status().message();
  EXPECT_EQ(file->kernels().size(), 2u);
  EXPECT_NE(file->Find(kOne, Known(FixedDimensions::kAll)), nullptr);
  EXPECT_EQ(file->Find(kOne, Known(FixedDimensions::kNone)), nullptr);
}

TEST(BuildKernels, StopsBetweenKernels) {
  Catalogue catalogue("h200");
  for (int i = 1; i <= 100; ++i) catalogue.Put(EntryFor({{64 * i, 128, 512}, {kTn}}, Known(FixedDimensions::kAll)));
  FakeCompiler compiler;
  size_t asked = 0;
  const Result<KernelFile> file =
      BuildKernels(catalogue, compiler, {.compile_threads = 1, .stop = [&] { return ++asked == 3; }});
  EXPECT_EQ(file.status().code(), StatusCode::kInterrupted);
  EXPECT_EQ(asked, 3u);
}

}  // namespace
}  // namespace gemmsmith
