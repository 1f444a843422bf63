// Made-up winners, so that their patterns are computed by hand.
#include "report/patterns.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "archive/example_trials.h"
#include "report/pattern_json.h"
#include "report/pattern_sentences.h"
#include "report/pattern_tables.h"

namespace gemmsmith {
namespace {

using Json = nlohmann::ordered_json;

Trial Timed(const Shape& shape, std::string_view plan, double time_ns, Protocol protocol = Protocol::kShort) {
  Trial trial = ExampleTimed(*ParsePlan(plan), shape, time_ns);
  trial.outcome.protocol = protocol;
  return trial;
}

Result<Patterns> PatternsOf(const std::vector<Trial>& trials) {
  return FindPatterns(trials, *SelectRecords(trials, {}));
}

const AxisPattern* OnAxis(const Patterns& patterns, std::string_view family, std::string_view axis) {
  for (const AxisPattern& pattern : patterns.axes)
    if (pattern.family == family && pattern.axis == axis) return &pattern;
  return nullptr;
}

const TechniqueRow* FindTechnique(const Patterns& patterns, std::string_view technique,
                                  std::string_view group = kAllGroups) {
  for (const TechniqueRow& row : patterns.techniques)
    if (row.technique->name == technique && row.group == group) return &row;
  return nullptr;
}

const PatternSentence* About(const Patterns& patterns, std::string_view about) {
  for (const PatternSentence& sentence : patterns.sentences)
    if (sentence.about == about) return &sentence;
  return nullptr;
}

// `copies` winners for each m: tile_m is 64 up to m = 512 and 128 above, the other axes are constant.
std::vector<Trial> TilesThatGrow(int copies) {
  std::vector<Trial> trials;
  for (const int m : {256, 512, 1024, 2048})
    for (int i = 0; i < copies; ++i)
      trials.push_back(Timed({m, 1024 + 256 * i, 4096},
                             fmt::format("wgmma tile_m={} tile_n=128 warpgroups=1 stages=4", m < 1024 ? 64 : 128),
                             1000));
  return trials;
}

TEST(AxisPatterns, FollowTheExtentOfTheStrongestCorrelation) {
  const Patterns patterns = *PatternsOf(TilesThatGrow(8));
  const AxisPattern* tile_m = OnAxis(patterns, "wgmma", "tile_m");
  ASSERT_NE(tile_m, nullptr);
  EXPECT_EQ(tile_m->winners, 32);
  EXPECT_EQ(tile_m->follows, Extent::kM);
  EXPECT_DOUBLE_EQ(tile_m->Correlation(), 4 / std::sqrt(20.0)) << "0 1 2 3 against 0.5 0.5 2.5 2.5";
  EXPECT_DOUBLE_EQ(*tile_m->correlation[size_t(Extent::kN)], 0);
  EXPECT_FALSE(tile_m->correlation[size_t(Extent::kK)].has_value()) << "k is the same everywhere";
  ASSERT_EQ(tile_m->octaves.size(), 4u);
  EXPECT_EQ(tile_m->octaves[0].low, 8);
  EXPECT_EQ(tile_m->octaves[0].values.winners, 8);
  EXPECT_EQ(tile_m->octaves[0].values.Most().text, "64");
  EXPECT_EQ(tile_m->octaves[3].median, 128);
}

TEST(AxisPatterns, OfAConstantAxisFollowNothing) {
  const Patterns patterns = *PatternsOf(TilesThatGrow(8));
  const AxisPattern* split = OnAxis(patterns, "wgmma", "split");
  ASSERT_NE(split, nullptr);
  EXPECT_FALSE(split->follows.has_value());
  EXPECT_TRUE(split->octaves.empty());
  EXPECT_EQ(OnAxis(patterns, "direct", "tile_m"), nullptr) << "no winner is direct";
}

TEST(AxisPatterns, WordsAreNoNumbersAndProductsAre) {
  const Patterns patterns = *PatternsOf({Timed({64, 64, 64}, "wgmma stages=resident raster=m", 1),
                                         Timed({128, 64, 64}, "wgmma stages=4 raster=8 cluster_m=2 cluster_n=2", 1),
                                         Timed({256, 64, 64}, "direct warps_k=8", 1)});
  EXPECT_EQ(OnAxis(patterns, "wgmma", "stages")->winners, 1) << "a resident K has no ring";
  EXPECT_EQ(OnAxis(patterns, "wgmma", "raster")->winners, 1);
  EXPECT_EQ(OnAxis(patterns, "wgmma", "schedule"), nullptr);
  const AxisPattern* cluster = OnAxis(patterns, "wgmma", "cluster_m*cluster_n");
  ASSERT_NE(cluster, nullptr);
  EXPECT_EQ(cluster->octaves.back().values.Most().text, "4");
  EXPECT_EQ(OnAxis(patterns, "direct", "warps_k")->winners, 1);
  EXPECT_EQ(OnAxis(patterns, "direct", "cluster_m*cluster_n"), nullptr);
}

TEST(AxisPatterns, ProductsAreByOctavesOfTwo) {
  const Patterns patterns = *PatternsOf({Timed({64, 64, 64}, "wgmma tile_n=64", 1),     // 2^12, 2^18
                                         Timed({128, 64, 256}, "wgmma tile_n=128", 1),  // 2^13, 2^21
                                         Timed({64, 256, 128}, "wgmma tile_n=192", 1),  // 2^14, 2^21
                                         Timed({64, 512, 32}, "wgmma tile_n=256", 1)});
  const AxisPattern* tile_n = OnAxis(patterns, "wgmma", "tile_n");
  ASSERT_EQ(tile_n->follows, Extent::kMN);
  ASSERT_EQ(tile_n->octaves.size(), 2u);
  EXPECT_EQ(tile_n->octaves[0].values.group, "12 to 14");
  EXPECT_EQ(tile_n->octaves[0].values.winners, 2);
  EXPECT_EQ(tile_n->octaves[0].median, 96);
}

TEST(ChoicePatterns, CountByClassAndSizeWhereTheChoiceIsOne) {
  Trial chained = Timed({128, 64, 64}, "wgmma trigger=late", 1);
  chained.outcome.timings.push_back({.contender = "ours", .clock = Clock::kDeviceColdChained, .median_ns = 1});
  const Patterns patterns = *PatternsOf({Timed({64, 64, 64}, "direct warps_k=8", 1), chained,
                                         Timed({64, 256, 16384}, "wgmma split=4 reduction=exchange", 1),
                                         Timed({8192, 8192, 8192}, "wgmma schedule=pingpong ctas=even", 1)});
  const auto find = [&](std::string_view family, std::string_view choice) -> const ChoicePattern& {
    for (const ChoicePattern& pattern : patterns.choices)
      if (pattern.family == family && pattern.choice == choice) return pattern;
    ADD_FAILURE() << family << " " << choice;
    return patterns.choices.front();
  };
  const ChoicePattern& family = find("any", "family");
  EXPECT_EQ(family.all.winners, 4);
  ASSERT_EQ(family.by_class.size(), 3u);
  EXPECT_EQ(family.by_class[0].group, "tiny");
  EXPECT_EQ(family.by_class[0].winners, 2);
  EXPECT_DOUBLE_EQ(family.by_class[0].ShareOf(family.values[0].value), 0.5) << "direct";
  EXPECT_EQ(family.by_size.front().group, "18 to 20");
  EXPECT_EQ(find("wgmma", "reduction").all.winners, 1) << "the others split nothing";
  EXPECT_EQ(find("wgmma", "ctas").all.winners, 1) << "the others are not persistent";
  EXPECT_EQ(find("wgmma", "trigger").all.winners, 1) << "the others were not chained";
  EXPECT_EQ(find("wgmma", "schedule").all.winners, 3);
  ASSERT_EQ(find("wgmma", "stages").values.size(), 1u);
  EXPECT_EQ(find("wgmma", "stages").values[0].value.text, "2..12");
}

TEST(ChoicePatterns, SayOnHowManyProblemsNothingElseWasTimed) {
  std::vector<Trial> trials = {Timed({64, 64, 64}, "wgmma raster=m", 1), Timed({64, 64, 64}, "wgmma raster=n", 2),
                               Timed({128, 64, 64}, "wgmma raster=n", 1), Timed({256, 64, 64}, "wgmma raster=n", 1),
                               Timed({256, 64, 64}, "direct", 2)};
  const Patterns patterns = *PatternsOf(trials);
  std::map<std::string, int> unopposed;
  for (const ChoicePattern& pattern : patterns.choices) unopposed[pattern.choice] = pattern.all.unopposed;
  EXPECT_EQ(unopposed.at("raster"), 2) << "one of them met another family alone";
  EXPECT_EQ(unopposed.at("family"), 2);
  EXPECT_EQ(unopposed.at("schedule"), 3);
}

TEST(Padding, IsWhatWholeTilesClustersAndStepsAdd) {
  const auto ratio = [](std::string_view plan, const Shape& shape) { return PaddingRatio(*ParsePlan(plan), shape); };
  EXPECT_DOUBLE_EQ(ratio("wgmma tile_m=128 tile_n=128", {256, 256, 256}), 1);
  EXPECT_DOUBLE_EQ(ratio("wgmma tile_m=128 tile_n=96", {256, 256, 256}), 288.0 / 256);
  EXPECT_DOUBLE_EQ(ratio("wgmma tile_m=128 tile_n=128 cluster_m=4", {256, 256, 256}), 2);
  EXPECT_DOUBLE_EQ(ratio("wgmma tile_m=128 tile_n=128 step_k=128", {256, 256, 320}), 384.0 / 320);
  EXPECT_DOUBLE_EQ(ratio("direct tile_m=32 tile_n=16", {40, 16, 33}), 64.0 / 40 * 64 / 33);
  EXPECT_FALSE(IsRagged(*ParsePlan("direct tile_m=32 tile_n=16"), {64, 64, 64}));
  EXPECT_TRUE(IsRagged(*ParsePlan("direct tile_m=32 tile_n=16"), {64, 64, 65}));
}

TEST(Padding, RaggedWinnersAreCountedOnceAndInEachDirection) {
  const Patterns patterns = *PatternsOf({Timed({64, 64, 64}, "direct tile_m=16 tile_n=16", 1),
                                         Timed({40, 40, 64}, "direct tile_m=32 tile_n=32", 1),
                                         Timed({8192, 8192, 8192}, "wgmma tile_n=96", 1)});
  ASSERT_EQ(patterns.ragged.size(), 3u);
  const RaggedRow& all = patterns.ragged[0];
  EXPECT_EQ(all.group, kAllGroups);
  EXPECT_EQ(all.winners, 3);
  EXPECT_EQ(all.ragged, 2);
  EXPECT_EQ(all.ragged_m, 1);
  EXPECT_EQ(all.ragged_n, 2);
  EXPECT_EQ(all.ragged_k, 0);
  EXPECT_EQ(patterns.ragged[1].group, "tiny");
  ASSERT_EQ(patterns.ragged[1].padding.size(), 1u);
  EXPECT_DOUBLE_EQ(patterns.ragged[1].padding[0], 64.0 * 64 / (40 * 40));
}

constexpr Shape kLargeCube{2048, 2048, 2048}, kSplitK{64, 256, 16384};

TEST(Techniques, CompareTheBestWithAndTheBestWithout) {
  const Patterns patterns =
      *PatternsOf({Timed(kLargeCube, "wgmma", 1000), Timed(kLargeCube, "wgmma finish=in_turn", 900),
                   Timed(kLargeCube, "wgmma tile_n=64", 800), Timed(kSplitK, "wgmma", 400),
                   Timed(kSplitK, "wgmma split=4", 100), Timed(kSplitK, "wgmma tile_n=64 split=8", 200)});
  const TechniqueRow* in_turn = FindTechnique(patterns, "in_turn");
  ASSERT_NE(in_turn, nullptr);
  EXPECT_EQ(in_turn->ratio.count, 1) << "no plan of the other problem staggers";
  EXPECT_DOUBLE_EQ(in_turn->ratio.geomean, 900.0 / 800);
  EXPECT_EQ(in_turn->best, 0);
  EXPECT_DOUBLE_EQ(in_turn->plans_without, 2);
  ASSERT_TRUE(in_turn->twins.has_value());
  EXPECT_EQ(in_turn->twins->count, 1);
  EXPECT_DOUBLE_EQ(in_turn->twins->geomean, 0.9);
  const TechniqueRow* split = FindTechnique(patterns, "split", "splitk");
  ASSERT_NE(split, nullptr);
  EXPECT_DOUBLE_EQ(split->ratio.geomean, 0.25);
  EXPECT_EQ(split->best, 1);
  EXPECT_EQ(split->twins->count, 1) << "tile_n=64 has no twin";
  EXPECT_EQ(FindTechnique(patterns, "split", "upper"), nullptr);
  EXPECT_EQ(FindTechnique(patterns, "swapped"), nullptr);
}

TEST(Techniques, CompareOnlyPlansThatCouldHaveThem) {
  const Patterns patterns = *PatternsOf(
      {Timed(kSplitK, "direct", 400), Timed(kSplitK, "wgmma", 200), Timed(kSplitK, "wgmma cluster_m=2", 100)});
  EXPECT_DOUBLE_EQ(FindTechnique(patterns, "family")->ratio.geomean, 0.25);
  EXPECT_DOUBLE_EQ(FindTechnique(patterns, "cluster")->ratio.geomean, 0.5) << "direct has no clusters to do without";
  EXPECT_EQ(FindTechnique(patterns, "pingpong"), nullptr);
  EXPECT_FALSE(FindTechnique(patterns, "family")->twins.has_value());
}

TEST(Techniques, TakeTheProtocolWithMostPlansOfAProblem) {
  std::vector<Trial> trials = {Timed(kLargeCube, "wgmma", 1000, Protocol::kHeat),
                               Timed(kLargeCube, "wgmma finish=in_turn", 500, Protocol::kHeat),
                               Timed(kLargeCube, "wgmma tile_n=64", 2000, Protocol::kHeat),
                               Timed(kLargeCube, "wgmma", 1000), Timed(kLargeCube, "wgmma finish=in_turn", 900)};
  EXPECT_DOUBLE_EQ(FindTechnique(*PatternsOf(trials), "in_turn")->ratio.geomean, 0.5);
  trials.push_back(Timed(kLargeCube, "wgmma tile_n=64", 2000));
  EXPECT_DOUBLE_EQ(FindTechnique(*PatternsOf(trials), "in_turn")->ratio.geomean, 0.9)
      << "of equals the more careful one";
}

TEST(Techniques, RaggedTilesAreOneOfThem) {
  const Patterns patterns =
      *PatternsOf({Timed(kLargeCube, "wgmma tile_n=128", 1000), Timed(kLargeCube, "wgmma tile_n=192", 800)});
  EXPECT_DOUBLE_EQ(FindTechnique(patterns, "ragged", "upper")->ratio.geomean, 0.8);
}

TEST(PatternSentences, NeedEnoughWinners) {
  EXPECT_EQ(About(*PatternsOf(TilesThatGrow(7)), "wgmma tile_m"), nullptr) << "28 winners";
  const Patterns patterns = *PatternsOf(TilesThatGrow(10));
  const PatternSentence* sentence = About(patterns, "wgmma tile_m");
  ASSERT_NE(sentence, nullptr);
  EXPECT_EQ(sentence->part, "numbers");
  EXPECT_EQ(
      sentence->text,
      "tile_m of wgmma grows with m: rank correlation +0.89 over 40 winners; most often 64 with m from 256 (10 of "
      "10) and 128 with m from 2048 (10 of 10).");
  EXPECT_EQ(About(patterns, "wgmma tile_n"), nullptr) << "it never varies";
}

TEST(PatternSentences, NeedACorrelation) {
  std::vector<Trial> trials = TilesThatGrow(10);
  for (size_t i = 0; i < trials.size(); ++i)
    trials[i].subject = *ParsePlan(fmt::format("wgmma tile_m={} warpgroups=1", i % 2 == 0 ? 64 : 128));
  EXPECT_EQ(About(*PatternsOf(trials), "wgmma tile_m"), nullptr);
}

// On each problem a staggered epilogue takes this part of the time, with five twins.
std::vector<Trial> InTurn(int problems, double ratio) {
  std::vector<Trial> trials;
  for (int i = 0; i < problems; ++i)
    for (const int stages : {2, 3, 4, 5, 6}) {
      const Shape shape{2048, 2048, 2048 + 64 * i};
      trials.push_back(Timed(shape, fmt::format("wgmma stages={}", stages), 1000));
      trials.push_back(Timed(shape, fmt::format("wgmma stages={} finish=in_turn", stages), 1000 * ratio));
    }
  return trials;
}

TEST(PatternSentences, OfTechniquesNeedADifferenceOnEnoughProblems) {
  EXPECT_EQ(About(*PatternsOf(InTurn(29, 0.9)), "in_turn, all"), nullptr);
  EXPECT_EQ(About(*PatternsOf(InTurn(30, 0.99)), "in_turn, all"), nullptr);
  const Patterns patterns = *PatternsOf(InTurn(30, 0.9));
  ASSERT_NE(About(patterns, "in_turn, all"), nullptr);
  EXPECT_NE(About(patterns, "in_turn, all")->text.find("takes 0.90 of the time"), std::string::npos);
  EXPECT_NE(About(*PatternsOf(InTurn(30, 1.1)), "in_turn, upper"), nullptr);
}

TEST(PatternSentences, OfTechniquesAreSilentWhereProblemsDisagree) {
  std::vector<Trial> trials = InTurn(40, 0.5), slower = InTurn(40, 1.1);
  std::copy(slower.begin(), slower.begin() + int(slower.size() / 2), trials.begin());
  EXPECT_LT(FindTechnique(*PatternsOf(trials), "in_turn")->ratio.geomean, 0.98);
  EXPECT_EQ(About(*PatternsOf(trials), "in_turn, all"), nullptr);
}

TEST(PatternSentences, OfTechniquesAreSilentWhereFewPlansWereTimed) {
  std::vector<Trial> trials = InTurn(30, 0.9);
  std::erase_if(trials, [](const Trial& trial) {
    return trial.plan().Get("stages") == 6 && Print(trial.plan()).find("in_turn") != std::string::npos;
  });
  EXPECT_EQ(About(*PatternsOf(trials), "in_turn, all"), nullptr) << "four of them a problem";
}

TEST(PatternSentences, OfTechniquesAreSilentWhereTwinsDenyIt) {
  std::vector<Trial> trials = InTurn(30, 1);
  for (Trial& trial : trials)
    if (trial.plan().Get("stages") == 6 && Print(trial.plan()).find("in_turn") == std::string::npos)
      trial.subject = *ParsePlan("wgmma stages=6 tile_n=64"), trial.outcome.timings[0].median_ns = 800;
  EXPECT_DOUBLE_EQ(FindTechnique(*PatternsOf(trials), "in_turn")->ratio.geomean, 1.25);
  EXPECT_EQ(About(*PatternsOf(trials), "in_turn, all"), nullptr) << "twins take the same time";
}

TEST(PatternSentences, SayWhereTheProblemsOfAFamilyAreOneSided) {
  std::vector<Trial> trials;
  for (int i = 1; i <= 30; ++i) trials.push_back(Timed({64 * i, 64, 64 * (40 - i)}, "direct", 1));
  ASSERT_NE(About(*PatternsOf(trials), "direct winners"), nullptr);
  EXPECT_NE(About(*PatternsOf(trials), "direct winners")->text.find("m n itself falls with k"), std::string::npos);
  EXPECT_EQ(About(*PatternsOf(TilesThatGrow(10)), "wgmma winners"), nullptr);
}

TEST(PatternSentences, OfRaggedTilesNeedAShare) {
  std::vector<Trial> trials = TilesThatGrow(10);
  for (size_t i = 0; i < 3; ++i) trials[i].subject = *ParsePlan("wgmma tile_m=96 roles=swapped");
  EXPECT_EQ(About(*PatternsOf(trials), "ragged tiles, all"), nullptr) << "3 of 40";
  trials[3].subject = *ParsePlan("wgmma tile_m=96 roles=swapped");
  ASSERT_NE(About(*PatternsOf(trials), "ragged tiles, all"), nullptr);
  EXPECT_NE(About(*PatternsOf(trials), "ragged tiles, all")->text.find("4 of the 40 winners (10 %)"),
            std::string::npos);
}

TEST(PatternSentences, OfAClassNameWhatTheOthersLack) {
  std::vector<Trial> trials;
  for (int i = 0; i < 30; ++i) {
    trials.push_back(Timed({64, 256, 16384 + 64 * i}, "wgmma split=4", 1));
    trials.push_back(Timed({8192, 8192, 8192 + 64 * i}, "wgmma schedule=pingpong", 1));
    if (i % 5 > 0) trials.push_back(Timed({8192, 8192, 8192 + 64 * i}, "wgmma", 2));
    if (i % 3 > 0) trials.push_back(Timed({64, 256, 16384 + 64 * i}, "wgmma schedule=pingpong", 2));
  }
  const Patterns patterns = *PatternsOf(trials);
  ASSERT_NE(About(patterns, "wgmma schedule, large"), nullptr);
  EXPECT_EQ(About(patterns, "wgmma schedule, large")->text,
            "On large wgmma winners have schedule=pingpong in 30 of 30 cases (100 %), elsewhere in 0 %; "
            "nothing else was timed for 6 of these 30 and 10 of the 30 elsewhere.");
  EXPECT_EQ(About(patterns, "wgmma split, splitk"), nullptr) << "nobody split K otherwise";
  EXPECT_EQ(About(patterns, "wgmma roles, large"), nullptr) << "all have straight roles";
  EXPECT_NE(About(patterns, "wgmma schedule"), nullptr) << "and the larger, the more";
}

TEST(PatternSentences, OfAClassAreSilentWhereTheOthersHadNoChoice) {
  std::vector<Trial> trials;
  for (int i = 0; i < 30; ++i) {
    trials.push_back(Timed({64, 256, 16384 + 64 * i}, "wgmma", 1));
    trials.push_back(Timed({8192, 8192, 8192 + 64 * i}, "wgmma schedule=pingpong", 1));
    trials.push_back(Timed({8192, 8192, 8192 + 64 * i}, "wgmma", 2));
  }
  EXPECT_EQ(About(*PatternsOf(trials), "wgmma schedule, large"), nullptr);
}

TEST(Techniques, AreComparedWithinTheFamilyOfTheFastestPlan) {
  const Patterns patterns =
      *PatternsOf({Timed(kLargeCube, "wgmma fixed=none", 1000), Timed(kLargeCube, "wgmma fixed=all", 990),
                   Timed(kLargeCube, "direct fixed=all", 9000)});
  const auto row_of = [&](std::string_view name) {
    return *std::find_if(patterns.techniques.begin(), patterns.techniques.end(),
                         [&](const TechniqueRow& row) { return row.technique->name == name; });
  };
  EXPECT_DOUBLE_EQ(row_of("fixed").ratio.median, 0.99);
  EXPECT_DOUBLE_EQ(row_of("fixed").plans_with, 1);
  EXPECT_DOUBLE_EQ(row_of("family").ratio.median, 990.0 / 9000);
}

TEST(Patterns, OfNoPlansAreNone) {
  Trial race = Timed(kLargeCube, "wgmma", 1000);
  race.subject = Nobody{};
  race.outcome.timings[0].contender = "cublas_nn";
  EXPECT_EQ(PatternsOf({race}).status().code(), StatusCode::kNotFound);
  Trial other = Timed(kLargeCube, "wgmma", 1000);
  other.subject = RecordedSource{"made_up", "0123"};
  EXPECT_EQ(PatternsOf({other}).status().code(), StatusCode::kNotFound);
  const Patterns patterns = *PatternsOf({other, Timed(kSplitK, "wgmma", 1000)});
  EXPECT_EQ(patterns.winners, 1);
  EXPECT_EQ(patterns.source_winners, 1);
  EXPECT_EQ(patterns.unopposed, 1);
  EXPECT_TRUE(patterns.techniques.empty());
  EXPECT_TRUE(patterns.sentences.empty());
}

TEST(PatternTables, EveryRowHasTheColumns) {
  const Patterns patterns = *PatternsOf(InTurn(30, 0.9));
  const std::vector<Sheet> sheets = SheetsOf(patterns);
  EXPECT_GE(sheets.size(), 5u);
  for (const Sheet& sheet : sheets)
    for (const std::vector<std::string>& row : sheet.rows) EXPECT_EQ(row.size(), sheet.columns.size()) << sheet.caption;
}

TEST(PatternsJson, HasItsKeys) {
  const Json json = PatternsJson(*PatternsOf(TilesThatGrow(10)), "here");
  EXPECT_EQ(json["command"], "report");
  EXPECT_EQ(json["part"], "patterns");
  EXPECT_EQ(json["winners"], 40);
  EXPECT_EQ(json["rules"]["fewest"], kMinToSpeak);
  const Json& tile_m = json["axes"][0];
  EXPECT_EQ(tile_m["axis"], "tile_m");
  EXPECT_EQ(tile_m["follows"], "m");
  EXPECT_TRUE(tile_m["correlation"]["k"].is_null());
  EXPECT_EQ(tile_m["octaves"][0]["log2_low"], 8);
  EXPECT_EQ(tile_m["octaves"][0]["most"], 64);
  EXPECT_EQ(tile_m["octaves"][0]["counts"]["64"], 10);
  EXPECT_EQ(json["choices"][0]["values"][0]["winners"], 40);
  EXPECT_EQ(json["ragged"][0]["ragged"], 0);
  EXPECT_TRUE(json["ragged"][0]["padding"].is_null());
  const Json worth = PatternsJson(*PatternsOf(InTurn(30, 0.9)), "here")["techniques"][0];
  for (const char* key :
       {"technique", "with", "without", "group", "problems", "best_of_all", "plans_with", "geomean", "q25"})
    EXPECT_TRUE(worth.contains(key)) << key;
  EXPECT_EQ(worth["twins"]["pairs"], 150);
}

TEST(PatternsCsv, EveryLineHasTheHeadersFields) {
  const std::string csv = PatternsCsv(*PatternsOf(InTurn(30, 0.9)));
  size_t begin = 0;
  for (size_t end = csv.find('\n'); end != csv.npos; begin = end + 1, end = csv.find('\n', begin)) {
    const std::string line = csv.substr(begin, end - begin);
    if (line.starts_with("sentence")) continue;
    EXPECT_EQ(std::count(line.begin(), line.end(), ','), 16) << line;
  }
  EXPECT_NE(csv.find("\ntechnique,,in_turn,,class,all,30,30,,0.9,"), std::string::npos) << csv;
  EXPECT_NE(csv.find("\nsentence,,\"in_turn, all\",\"Over all classes"), std::string::npos) << csv;
}

}  // namespace
}  // namespace gemmsmith
