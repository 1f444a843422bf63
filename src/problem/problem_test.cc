#include <gtest/gtest.h>

#include <map>

#include "base/files.h"
#include "problem/gemm.h"
#include "problem/grids.h"
#include "problem/models.h"

namespace gemmsmith {
namespace {

TEST(Shape, PrintsAndParsesBothSpellings) {
  EXPECT_EQ(*ParseShape("256x512x4096"), (Shape{256, 512, 4096}));
  EXPECT_EQ(*ParseShape("1_2_3"), (Shape{1, 2, 3}));
  EXPECT_EQ(Print(Shape{17, 31, 63}), "17x31x63");
}

TEST(Shape, RefusesWhatIsNoShape) {
  for (const char* text : {"", "x", "1x2", "1x2x3x4", "0x1x1", "-1x1x1", "1x1x1 ", " 1x1x1", "1e3x2x2", "1x2_3",
                           "axbxc", "1x1x1073741825", "99999999999999999999x1x1", "1x1x\xC3\xA9", "0x10x1", "+1x1x1"}) {
    const Result<Shape> shape = ParseShape(text);
    ASSERT_FALSE(shape.ok()) << text;
    EXPECT_EQ(shape.status().code(), StatusCode::kInvalidArgument);
  }
}

TEST(Gemm, TextRoundTripsForEveryKindAndLeadingDimension) {
  for (Order a : {Order::kRow, Order::kColumn})
    for (Order b : {Order::kRow, Order::kColumn})
      for (ScalarType type : {ScalarType::kF16, ScalarType::kBf16})
        for (Accumulation accumulation : {Accumulation::kF32, Accumulation::kF16})
          for (int extra : {0, 1, 8}) {
            Gemm gemm{{3, 5, 7}, {{a, b}, type, accumulation}};
            if (extra > 0) gemm.lda = gemm.LeadingA() + extra, gemm.ldb = gemm.LeadingB() + extra, gemm.ldc = 5 + extra;
            const Result<Gemm> parsed = ParseGemm(Print(gemm));
            ASSERT_TRUE(parsed.ok()) << Print(gemm) << ": " << parsed.status().message();
            EXPECT_EQ(*parsed, gemm) << Print(gemm);
          }
}

TEST(Gemm, NnAndTnAreOneProblemWhereTheyArePackedAndAColumnMajorAIsAnother) {
  const auto of = [](const Layout& layout, int lda) { return WithoutLayout({{8, 16, 32}, {layout}, lda}); };
  EXPECT_EQ(of(kNn, 0), of(kTn, 0));
  EXPECT_NE(of(kNn, 40), of(kTn, 40));
  for (const Layout& layout : {kColumnRow, kColumnColumn}) EXPECT_EQ(of(layout, 0).kind.layout, layout);
}

TEST(Gemm, AnExplicitPackedLeadingDimensionIsTheSameProblem) {
  EXPECT_EQ(*ParseGemm("gemm 4x8x16 tn f16 f32 lda=16 ldb=16 ldc=8"), *ParseGemm("gemm 4x8x16 tn f16 f32"));
  EXPECT_EQ(Print(*ParseGemm("gemm 4x8x16 tn f16 f32 lda=24 constant_b")), "gemm 4x8x16 tn f16 f32 constant_b lda=24");
}

TEST(Gemm, RefusesMalformedText) {
  for (const char* text :
       {"", "gemm", "gemm 1x1x1", "gemm 1x1x1 tn f16", "gemm 1x1x1 tt f16 f32", "gemm 1x1x1 tn f64 f32",
        "gemm 1x1x1 tn f16 f64", "gemm 1x1x9 tn f16 f32 lda=8", "gemm 1x1x1 tn f16 f32 lda=9 lda=9",
        "gemm 1x1x1 tn f16 f32 constant_b constant_b", "gemm 1x1x1 tn f16 f32 ldx=9",
        "gemm 1x1x1 tn f16 f32 lda=", "conv 1x1x1 tn f16 f32", "gemm 1073741824x1x1073741824 tn f16 f32"})
    EXPECT_FALSE(ParseGemm(text).ok()) << text;
}

TEST(Gemm, AlignmentIsTheLargestPowerOfTwoUpToEight) {
  Gemm gemm{{64, 64, 64}};
  EXPECT_EQ(gemm.AlignmentA(), 8);
  gemm.lda = 68;
  EXPECT_EQ(gemm.AlignmentA(), 4);
  gemm.lda = 70;
  EXPECT_EQ(gemm.AlignmentA(), 2);
  gemm.lda = 71;
  EXPECT_EQ(gemm.AlignmentA(), 1);
}

TEST(Task, DescribesOperandsByTheirContiguousLines) {
  const Task tn = MakeTask({{2, 3, 5}, {kTn}});
  EXPECT_EQ(tn.inputs[0], (Operand{"A", ScalarType::kF16, 2, 5, 5}));
  EXPECT_EQ(tn.inputs[1], (Operand{"B", ScalarType::kF16, 3, 5, 5}));
  EXPECT_EQ(tn.output, (Operand{"C", ScalarType::kF16, 2, 3, 3}));
  const Task nn = MakeTask({{2, 3, 5}, {kNn}, 0, 4});
  EXPECT_EQ(nn.inputs[1], (Operand{"B", ScalarType::kF16, 5, 3, 4}));
  EXPECT_EQ(nn.inputs[1].SpanBytes(), (4 * 4 + 3) * 2);
  EXPECT_EQ(tn.flops, 60);
  EXPECT_EQ(tn.bytes, 2.0 * (10 + 15 + 6));
}

TEST(Task, FloorIsTheLargestOfLaunchArithmeticAndBytes) {
  const Device h200 = *FindDevice("h200");
  EXPECT_DOUBLE_EQ(MakeTask({{64, 64, 64}}).FloorNs(h200), 1000);
  const double n = 8192;
  EXPECT_NEAR(MakeTask({{8192, 8192, 8192}}).FloorNs(h200), 2 * n * n * n / 800e12 * 1e9, 1);
  EXPECT_NEAR(MakeTask({{16384, 16384, 64}}).FloorNs(h200), (16384.0 * 16384 + 2 * 64 * 16384.0) * 2 / 4.3e12 * 1e9, 1);
}

TEST(Task, TheColdFloorReadsFromMemoryHoweverSmallTheProduct) {
  const Device h200 = *FindDevice("h200");
  EXPECT_DOUBLE_EQ(MakeTask({{1, 32, 2880}}).ColdFloorNs(h200), 1000);
  const double weights = 4096.0 * 4096, rows = 16 * (4096.0 + 4096);
  EXPECT_NEAR(MakeTask({{16, 4096, 4096}}).ColdFloorNs(h200), 2 * (weights + rows) / 4.55e12 * 1e9, 1);
  const double n = 8192;
  EXPECT_NEAR(MakeTask({{8192, 8192, 8192}}).ColdFloorNs(h200), 2 * n * n * n / 800e12 * 1e9, 1);
}

TEST(Grids, ThePaperGridFallsIntoTheKnownClassSizes) {
  const std::map<std::string_view, size_t> expected = {{"tiny", 123},  {"large", 217}, {"splitk", 147}, {"store", 123},
                                                       {"skinny", 88}, {"mid", 227},   {"upper", 75}};
  size_t sum = 0;
  for (const auto& [name, count] : expected) {
    EXPECT_EQ(LoadShapes("paper1000/" + std::string(name))->size(), count) << name;
    sum += count;
  }
  EXPECT_EQ(sum, 1000u);
  EXPECT_EQ(LoadShapes("paper1000")->size(), 1000u);
}

TEST(Grids, AFileOfShapesNamesTheLineThatIsWrong) {
  const TemporaryFolder folder = *TemporaryFolder::Create("grids");
  ASSERT_TRUE(WriteFileAtomic(folder.path() / "good", "1x2x3 # one\n\n4x5x6\n").ok());
  EXPECT_EQ(LoadShapes((folder.path() / "good").string())->size(), 2u);
  ASSERT_TRUE(WriteFileAtomic(folder.path() / "bad", "1x2x3\n4x5\n").ok());
  EXPECT_NE(LoadShapes((folder.path() / "bad").string()).status().message().find(":2:"), std::string::npos);
  EXPECT_EQ(LoadShapes("no_such_set").status().code(), StatusCode::kNotFound);
}

TEST(Grids, ALayoutInAFileBelongsToTheShapeBeforeIt) {
  const TemporaryFolder folder = *TemporaryFolder::Create("grids");
  const std::string path = (folder.path() / "list").string();
  ASSERT_TRUE(WriteFileAtomic(path, "1x2x3 tn 4x5x6\n7x8x9 col-row\n").ok());
  const std::vector<Product> expected = {
      {{1, 2, 3}, kTn}, {{4, 5, 6}, std::nullopt}, {{7, 8, 9}, Layout{Order::kColumn, Order::kRow}}};
  EXPECT_EQ(*LoadProducts(path), expected);
  for (const char* wrong : {"tn 1x2x3\n", "1x2x3 tn nn\n", "1x2x3\ntn\n", "1x2x3 nt\n"}) {
    ASSERT_TRUE(WriteFileAtomic(path, wrong).ok());
    EXPECT_EQ(LoadProducts(path).status().code(), StatusCode::kInvalidArgument) << wrong;
  }
}

TEST(Grids, AProductComesInItsOwnLayoutElseInEachBesideTheOthersOfItsShape) {
  const Layout layouts[] = {kNn, kTn};
  const GemmKind kind{.type = ScalarType::kBf16};
  const std::vector<Gemm> problems =
      ProblemsOf({{{1, 2, 3}, kTn}, {{4, 5, 6}, kNn}, {{1, 2, 3}, std::nullopt}}, layouts, kind);
  const auto gemm = [&](const Shape& shape, const Layout& layout) {
    return Gemm{.shape = shape, .kind = {.layout = layout, .type = ScalarType::kBf16}};
  };
  EXPECT_EQ(problems, (std::vector<Gemm>{gemm({1, 2, 3}, kTn), gemm({1, 2, 3}, kNn), gemm({4, 5, 6}, kNn)}));
}

TEST(Models, TheSetHoldsEachProductOfTheTableOnceAndItsGroupsPartIt) {
  EXPECT_EQ(ModelProducts().size(), 582u);
  EXPECT_EQ(LoadProducts("models")->size(), 557u);
  EXPECT_EQ(LoadProducts("models/decode")->size(), 188u);
  EXPECT_EQ(LoadProducts("models/middle")->size(), 86u);
  EXPECT_EQ(LoadProducts("models/large")->size(), 283u);
  const std::vector<Product> middle = *LoadProducts("models/middle");
  for (const Product& product : middle)
    EXPECT_TRUE(product.layout && product.shape.m > 64 && product.shape.m <= 512) << Print(product.shape);
}

TEST(Models, APassFixesTheLayoutAndTheGradientsAreOfAForwardProduct) {
  std::set<std::tuple<std::string_view, std::string_view, int>> forward;
  for (const ModelProduct& row : ModelProducts())
    if (row.pass == Pass::kForward) forward.emplace(row.model, row.layer, row.tokens());
  for (const ModelProduct& row : ModelProducts()) {
    const Layout layouts[] = {kTn, kNn, {Order::kColumn, Order::kRow}};
    EXPECT_EQ(row.layout, layouts[int(row.pass)]);
    EXPECT_TRUE(forward.contains({row.model, row.layer, row.tokens()})) << row.model << " " << row.layer;
  }
}

TEST(Device, KnownNamesAreDescribedByTheirRecordAndOthersByTheirLimits) {
  EXPECT_EQ(DescribeDevice("NVIDIA H200", 9, 0, 132, 232448, 233472).key, "h200");
  const Device other = DescribeDevice("NVIDIA H20", 9, 0, 78, 232448, 233472);
  EXPECT_EQ(other.key, "other");
  EXPECT_EQ(other.multiprocessors, 78);
  EXPECT_EQ(other.Architecture(), "sm_90a");
  EXPECT_EQ(FindDevice("a100")->Architecture(), "sm_80");
  EXPECT_FALSE(FindDevice("h300").ok());
}

// As cudaOccupancyMaxActiveClusters says of an H100 (2026-11-27), one CTA a multiprocessor.
TEST(Device, OccupancyAndL2AreThoseOfTheArchitecture) {
  for (const char* hopper : {"h100", "h200"}) {
    const Device device = *FindDevice(hopper);
    EXPECT_EQ(device.threads_per_multiprocessor, 2048);
    EXPECT_EQ(device.ctas_per_multiprocessor, 32);
    EXPECT_EQ(device.l2_bytes, 50 << 20);
  }
  EXPECT_EQ(DescribeDevice("NVIDIA H20", 9, 0, 78, 232448, 233472).l2_bytes, 50 << 20);
  EXPECT_EQ(DescribeDevice("NVIDIA RTX A6000", 8, 6, 84, 101376, 102400).threads_per_multiprocessor, 1536);
}

TEST(Device, ClustersFindRoomWithinParts) {
  const Device device = *FindDevice("h200");
  const auto clusters = [&](int size) { return device.CtasInClusters(size, 1) / size; };
  const int sizes[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 16}, found[] = {132, 66, 39, 30, 22, 17, 15, 15, 9, 7, 7, 7};
  for (size_t i = 0; i < std::size(sizes); ++i) EXPECT_EQ(clusters(sizes[i]), found[i]) << "of " << sizes[i];
  EXPECT_EQ(device.CtasInClusters(1, 2), 264);
  EXPECT_EQ(device.CtasInClusters(16, 2), 240) << "the part of eight holds one";
}

}  // namespace
}  // namespace gemmsmith
