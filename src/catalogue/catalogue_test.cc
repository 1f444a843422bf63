#include "catalogue/catalogue.h"

#include <gtest/gtest.h>

#include "base/files.h"
#include "problem/device_model.h"

namespace gemmsmith {
namespace {

Entry MakeEntry(const Shape& shape, std::string_view plan = "direct tile_m=32", Layout layout = kTn) {
  return {.gemm = {.shape = shape, .kind = {layout}},
          .plan = *ParsePlan(plan),
          .proof = Proof::kCertified,
          .date = "2026-11-22",
          .harness = "gemmsmith 0.1.0 abc",
          .times = {{"device", 1184.5, {1180, 1190}, 1.8321, {1.81, 1.86}},
                    {"offline", 2200, {2150, 2300}, 1.5, {1.4, 1.6}}}};
}

Catalogue Example() {
  Catalogue catalogue("h200");
  catalogue.Put(MakeEntry({64, 64, 64}));
  catalogue.Put(MakeEntry({256, 512, 4096}, "wgmma tile_m=64 tile_n=64 warpgroups=1 fixed=all", kNn));
  return catalogue;
}

TEST(Catalogue, SurvivesItsText) {
  const Catalogue catalogue = Example();
  const Result<Catalogue> read = Catalogue::Parse(catalogue.Print());
  ASSERT_TRUE(read.ok()) << read.status().message();
  EXPECT_EQ(read->device_key(), "h200");
  EXPECT_EQ(read->entries(), catalogue.entries());
  EXPECT_EQ(read->Print(), catalogue.Print());
}

TEST(Catalogue, EveryCutIsNoticed) {
  const std::string text = Example().Print();
  const size_t head = text.find('\n') + 1, first_entry = text.find('\n', head) + 1;
  for (size_t length = 0; length < text.size(); ++length) {
    if (length == head || length == first_entry) continue;  // whole lines: what is missing nobody can know
    EXPECT_EQ(Catalogue::Parse(text.substr(0, length)).status().code(), StatusCode::kDataLoss) << length;
  }
}

TEST(Catalogue, WhatIsWrongIsToldByItsLine) {
  const auto wrong = [](std::string_view from, std::string_view to) {
    std::string text = Example().Print();
    const size_t at = text.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    return Catalogue::Parse(text.replace(at, from.size(), to)).status().message();
  };
  EXPECT_EQ(wrong("gemmsmith-catalogue", "something"), "not a catalogue of gemmsmith");
  EXPECT_EQ(wrong("catalogue 1", "catalogue 9"), "a catalogue of version 9, of which this program knows nothing");
  EXPECT_EQ(wrong("certified", "sworn"), "line 2 of a catalogue: 'sworn' is no proof");
  EXPECT_EQ(wrong("1184.5", "-1"), "line 2 of a catalogue: '-1' is no time or ratio");
  EXPECT_EQ(wrong("offline", "device"), "line 2 of a catalogue: two times in mode device");
  EXPECT_EQ(wrong("\tdevice ", "\tserver "),
            "line 2 of a catalogue: the first time is not that of mode device_cold or device");
  EXPECT_TRUE(wrong("direct tile_m=32", "direct tile_m=33").starts_with("line 2 of a catalogue: ")) << "no such plan";
  const std::string text = Example().Print(), entry = text.substr(text.find('\n') + 1);
  EXPECT_EQ(Catalogue::Parse(text + entry).status().message(),
            "line 4 of a catalogue: a second entry of gemm 64x64x64 tn f16 f32");
}

TEST(Catalogue, LinesForPeopleAreAllowed) {
  const Result<Catalogue> read = Catalogue::Parse("gemmsmith-catalogue 1 h200\n# from a sweep\n\n");
  ASSERT_TRUE(read.ok());
  EXPECT_TRUE(read->entries().empty());
}

TEST(Catalogue, AnEntryTakesThePlaceOfItsProblems) {
  Catalogue catalogue = Example();
  catalogue.Put(MakeEntry({64, 64, 64}, "direct tile_m=16"));
  EXPECT_EQ(catalogue.entries().size(), 2u);
  EXPECT_EQ(catalogue.Find({{64, 64, 64}})->plan, *ParsePlan("direct tile_m=16"));
  EXPECT_EQ(catalogue.Find({{64, 64, 128}}), nullptr);
  EXPECT_EQ(catalogue.Find({{64, 64, 64}})->Find("server"), nullptr);
}

TEST(Catalogue, TheNearestThatCouldRunAnswersForOthers) {
  const Device device = *FindDevice("h200");
  Catalogue catalogue("h200");
  EXPECT_EQ(catalogue.Nearest({{64, 64, 64}}, device), nullptr);
  catalogue.Put(MakeEntry({128, 128, 4096}, "wgmma tile_m=64 tile_n=64 warpgroups=1 stages=8 split=4 fixed=all"));
  catalogue.Put(MakeEntry({8192, 8192, 8192}, "wgmma tile_m=128 tile_n=64 warpgroups=2 stages=4"));
  EXPECT_EQ(catalogue.Nearest({{128, 128, 4096}}, device)->gemm.shape, (Shape{128, 128, 4096}));
  EXPECT_EQ(catalogue.Nearest({{128, 256, 4096}}, device)->gemm.shape, (Shape{128, 128, 4096})) << "as with run-time m";
  EXPECT_EQ(catalogue.Nearest({{128, 128, 512}}, device)->gemm.shape, (Shape{8192, 8192, 8192}))
      << "four splits of 512 have no ring of eight stages";
  EXPECT_EQ(catalogue.Nearest({{128, 128, 4096}, {kNn}}, device), nullptr) << "another kind of problem";
}

TEST(Catalogue, AFileThatIsNotThereIsNotFoundAndADamagedOneIsNamed) {
  const Result<TemporaryFolder> folder = TemporaryFolder::Create("catalogue");
  ASSERT_TRUE(folder.ok());
  const auto path = folder->path() / "h200.catalogue";
  EXPECT_EQ(Catalogue::Read(path).status().code(), StatusCode::kNotFound);
  ASSERT_TRUE(WriteFileAtomic(path, Example().Print()).ok());
  EXPECT_EQ(Catalogue::Read(path)->entries(), Example().entries());
  ASSERT_TRUE(WriteFileAtomic(path, "gemmsmith-catalogue 1 h200\nnonsense\n").ok());
  EXPECT_EQ(Catalogue::Read(path).status().message(),
            path.string() + " is damaged: line 2 of a catalogue: fewer fields than an entry has");
}

}  // namespace
}  // namespace gemmsmith
