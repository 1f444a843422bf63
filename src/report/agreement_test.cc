#include "report/agreement.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>

namespace gemmsmith {
namespace {

constexpr Shape kOne{256, 512, 4096}, kTwo{64, 64, 64};

TimeTableOptions Options(std::optional<double> unit_ns = std::nullopt) {
  return {.variants = {"cublas_nn", "cublas_tn", "lt_auto_nn"}, .unit_ns = unit_ns};
}

std::string Refusal(std::string_view csv, const TimeTableOptions& options = Options()) {
  const Result<TimeTable> table = ParseTimeTable(csv, options);
  return table.ok() ? "" : table.status().message();
}

TEST(TimeTable, HasAColumnForEachVariant) {
  const TimeTable table = *ParseTimeTable(
      "m,n,k,cublas_nn_us,lt_auto_nn_ms,remark\r\n"
      "256,512,4096, 2.5 ,1,\"a, b\"\r\n"
      "\n"
      "64,64,64,,0.002,\n",
      Options());
  EXPECT_EQ(table.times_ns.at("cublas_nn"), (std::map<Shape, double>{{kOne, 2500}})) << "an empty cell is no time";
  EXPECT_EQ(table.times_ns.at("lt_auto_nn").at(kTwo), 2000);
  EXPECT_EQ(table.ignored, std::vector<std::string>{"remark"});
}

TEST(TimeTable, OrALineForEachVariant) {
  const TimeTable table = *ParseTimeTable(
      "\xef\xbb\xbfshape,variant,layout,time_ns\n256x512x4096,cublas,tn,7\n64_64_64,cublas_nn,nn,8\n64x64x64,other,nn,"
      "9",
      Options());
  EXPECT_EQ(table.times_ns.at("cublas_tn").at(kOne), 7);
  EXPECT_EQ(table.times_ns.at("cublas_nn").at(kTwo), 8);
  EXPECT_EQ(table.ignored, std::vector<std::string>{"other_nn"});
}

TEST(TimeTable, TakesOtherNamesForColumnsAndVariants) {
  TimeTableOptions options = Options();
  options.names = {{"size", "shape"}, {"ms", "time_ms"}, {"library", "variant"}, {"blas", "cublas_nn"}};
  EXPECT_EQ(ParseTimeTable("size,library,ms\n64x64x64,blas,3\n", options)->times_ns.at("cublas_nn").at(kTwo), 3e6);
  options.names = {{"mine", "cublas_tn"}};
  EXPECT_EQ(ParseTimeTable("shape,mine_us\n64x64x64,3\n", options)->times_ns.at("cublas_tn").at(kTwo), 3e3);
}

TEST(TimeTable, TheUnitIsSaidSomewhere) {
  EXPECT_EQ(Refusal("shape,cublas_nn\n64x64x64,3\n"),
            "line 1: 'cublas_nn' says no unit: end it in _ns, _us or _ms, or say --unit");
  EXPECT_EQ(
      ParseTimeTable("shape,cublas_nn,cublas_tn_ns\n64x64x64,3,3\n", Options(1e3))->times_ns.at("cublas_nn").at(kTwo),
      3e3);
  EXPECT_EQ(
      ParseTimeTable("shape,cublas_nn,cublas_tn_ns\n64x64x64,3,3\n", Options(1e3))->times_ns.at("cublas_tn").at(kTwo),
      3)
      << "what a column says itself goes first";
}

TEST(TimeTable, WhatIsWrongIsSaidWithItsLine) {
  EXPECT_EQ(Refusal(""), "an empty table");
  EXPECT_EQ(Refusal("cublas_nn_us\n1\n"), "line 1: no column 'shape', nor 'm', 'n' and 'k'");
  EXPECT_NE(Refusal("shape,blas_us\n").find("no column is a variant (cublas_nn, cublas_tn, lt_auto_nn)"),
            std::string::npos);
  EXPECT_EQ(Refusal("shape,variant\n"), "line 1: a column 'variant', and none 'time'");
  EXPECT_EQ(Refusal("shape,shape,cublas_nn_us\n"), "line 1: two columns 'shape'");
  EXPECT_EQ(Refusal("shape,cublas_nn_us\n64x64x64\n"), "line 2: 1 fields, where the header has 2");
  EXPECT_EQ(Refusal("shape,cublas_nn_us\n\n64x64x64,fast\n"), "line 3: 'fast' is no time of cublas_nn");
  EXPECT_EQ(Refusal("shape,cublas_nn_us\n64x64x64,-1\n"), "line 2: '-1' is no time of cublas_nn");
  EXPECT_EQ(Refusal("shape,cublas_nn_us\n64x64x64,1\n64x64x64,2\n"), "line 3: a second time of cublas_nn on 64x64x64");
  EXPECT_EQ(Refusal("shape,cublas_nn_us\n\"64x64x64,1\n"), "line 2: a quote that does not end");
  EXPECT_TRUE(Refusal("shape,cublas_nn_us\n64x64,1\n").starts_with("line 2: ")) << "no shape";
}

Trial Race(const Shape& shape, double nn_ns, double tn_ns) {
  Trial trial{.gemm = {.shape = shape}, .subject = Nobody()};
  trial.outcome.kind = OutcomeKind::kMeasured;
  trial.outcome.protocol = Protocol::kShort;
  trial.outcome.timings = {{.contender = "cublas_nn", .clock = Clock::kDevice, .median_ns = nn_ns},
                           {.contender = "cublas_tn", .clock = Clock::kDevice, .median_ns = tn_ns},
                           {.contender = "cublas_tn", .clock = Clock::kOffline, .median_ns = 1}};
  trial.setting = {.device_key = "h200", .device_name = "NVIDIA H200"};
  trial.unix_ms = 1'795'219'200'000;
  return trial;
}

std::vector<Trial> TwoRaces() { return {Race(kOne, 900, 1), Race(kTwo, 1200, 20'000)}; }

const VariantTimes kThere = {{"cublas_nn", {{kOne, 1000}, {kTwo, 1000}}},
                             {"cublas_tn", {{kTwo, 1000}, {{1, 1, 1}, 5}}}};

TEST(Agreement, IsTheTimeHereOverTheTimeThere) {
  const std::vector<Trial> races = TwoRaces();
  const Selection here = *SelectRecords(races, {});
  const Agreement agreement = *Agree(here, kThere, {});
  ASSERT_EQ(agreement.rows.size(), 2u);
  EXPECT_EQ(agreement.rows[0].variant, "cublas_nn");
  EXPECT_EQ(agreement.rows[0].ratio.count, 2);
  EXPECT_DOUBLE_EQ(agreement.rows[0].ratio.lowest, 0.9);
  EXPECT_DOUBLE_EQ(agreement.rows[0].ratio.highest, 1.2);
  EXPECT_DOUBLE_EQ(agreement.rows[1].ratio.median, 20);
  EXPECT_EQ(agreement.shapes_here, 2);
  EXPECT_EQ(agreement.shapes_there, 3);
  EXPECT_EQ(agreement.shapes, 2);
  ASSERT_EQ(agreement.furthest.size(), 3u);
  EXPECT_EQ(agreement.furthest[0].variant, "cublas_tn");
  EXPECT_DOUBLE_EQ(agreement.furthest[1].ratio(), 1.2) << "farther from 1 than 0.9";
  EXPECT_EQ(Agree(here, kThere, {.furthest = 1})->furthest.size(), 1u);
  EXPECT_EQ(Agree(here, {{"torch_nn", {{kOne, 1}}}}, {}).status().code(), StatusCode::kNotFound);
}

TEST(Agreement, IsToldApartByClassTimeAndPower) {
  std::vector<Trial> races = TwoRaces();
  races[1].outcome.conditions.limits.Add(ClockLimit::kPowerCap);
  const Selection here = *SelectRecords(races, {});
  const auto groups = [&](AgreementGroup by) {
    std::vector<std::string> texts;
    const Agreement agreement = *Agree(here, kThere, {.by = by});
    for (const AgreementRow& row : agreement.rows) texts.push_back(row.group);
    return texts;
  };
  EXPECT_EQ(groups(AgreementGroup::kPower), (std::vector<std::string>{"no cap", "capped", "capped"}));
  EXPECT_EQ(groups(AgreementGroup::kTime), (std::vector<std::string>{"below 10 us", "10 to 100 us"}));
  EXPECT_EQ(groups(AgreementGroup::kClass), (std::vector<std::string>{"tiny", "splitk", "tiny"}));
  EXPECT_FALSE(ParseAgreementGroup("none"));
}

TEST(Agreement, OfARecordWithItselfIsOne) {
  const std::vector<Trial> races = TwoRaces();
  const Selection here = *SelectRecords(races, {});
  const Agreement agreement = *Agree(here, LibraryTimes(here, Clock::kDevice), {});
  for (const AgreementRow& row : agreement.rows) {
    EXPECT_EQ(row.ratio.count, 2);
    EXPECT_DOUBLE_EQ(row.ratio.lowest, 1);
    EXPECT_DOUBLE_EQ(row.ratio.highest, 1);
  }
}

TEST(Agreement, EveryFormHasItsColumns) {
  const std::vector<Trial> races = TwoRaces();
  const Selection here = *SelectRecords(races, {});
  const Agreement agreement = *Agree(here, kThere, {.by = AgreementGroup::kClass});
  for (const Sheet& sheet : {AgreementSheet(agreement), FurthestSheet(agreement)})
    for (const auto& row : sheet.rows) EXPECT_EQ(row.size(), sheet.columns.size());
  const nlohmann::ordered_json json = AgreementJson(agreement);
  for (const char* key : {"variant", "group", "shapes", "geomean", "median", "q95"})
    EXPECT_TRUE(json["variants"][0].contains(key)) << key;
  EXPECT_DOUBLE_EQ(json["furthest"][0]["ratio"], 20);
  const std::string csv = AgreementCsv(agreement);
  EXPECT_EQ(std::count(csv.begin(), csv.end(), '\n'), 4);
  EXPECT_EQ(std::count(csv.begin(), csv.end(), ','), 4 * 10);
}

}  // namespace
}  // namespace gemmsmith
