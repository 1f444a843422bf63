#include "cli/words.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "cli/exit.h"
#include "cli/progress.h"
#include "cli/readers.h"
#include "cli/table.h"
#include "workflow/instrument.h"

namespace gemmsmith {
namespace {

TEST(WordsTest, TimesKeepThreeOrMoreDigits) {
  EXPECT_EQ(TimeText(512), "0.51 us");
  EXPECT_EQ(TimeText(9871), "9.87 us");
  EXPECT_EQ(TimeText(123456), "123.5 us");
  EXPECT_EQ(TimeText(1204000), "1.204 ms");
  EXPECT_EQ(IntervalText({5570, 5640}), "5.57 to 5.64 us");
  EXPECT_EQ(IntervalText({}), "none");
  EXPECT_EQ(RatioText({.median = 1.32, .interval = {1.31, 1.34}}), "1.32x [1.31-1.34]");
  EXPECT_EQ(RatioText({.median = 1.32}), "1.32x");
}

TEST(WordsTest, SecondsBytesAndOutcomes) {
  EXPECT_EQ(SecondsText(0.2), "0 s");
  EXPECT_EQ(SecondsText(125), "2 min 05 s");
  EXPECT_EQ(SecondsText(3720), "1 h 02 min");
  EXPECT_EQ(BytesText(512), "512 B");
  EXPECT_EQ(BytesText(12288), "12.0 KiB");
  EXPECT_EQ(OutcomesText({{OutcomeKind::kWrong, 3}, {OutcomeKind::kMeasured, 60}}), "60 measured, 3 wrong");
  EXPECT_EQ(OutcomesText({}), "none");
}

TEST(TableTest, ColumnsAreAsWideAsTheirWidestCellAndLinesHaveNoTail) {
  Table table({{"name"}, {"n", Table::Align::kRight}, {"last"}});
  table.Add({"a", "1", "x"});
  table.Add({"longer", "1000", ""});
  EXPECT_EQ(table.Print({}),
            "  name       n  last\n"
            "  ------------------\n"
            "  a          1  x\n"
            "  longer  1000\n");
}

TEST(BarLineTest, NeverWiderThanTheTerminal) {
  for (const bool unicode : {false, true}) {
    for (int columns = 1; columns <= 200; ++columns) {
      const Terminal terminal{.interactive = true, .unicode = unicode, .columns = columns};
      const std::string line = BarLine("nn", 0.37, "47/128  412/s  2 s left", "best 9.87 us", terminal);
      const auto continuation = [](char c) { return (static_cast<unsigned char>(c) & 0xc0) == 0x80; };
      EXPECT_LT(long(line.size()) - std::count_if(line.begin(), line.end(), continuation), columns) << line;
    }
  }
}

TEST(BarLineTest, ShowsEverythingWhereThereIsRoom) {
  const Terminal terminal{.interactive = true, .columns = 100};
  EXPECT_EQ(BarLine("nn", 0.5, "64/128", "best 9.87 us", terminal),
            "nn  [###############...............]  64/128  best 9.87 us");
  EXPECT_EQ(BarLine("nn", std::nullopt, "64", "best 9.87 us", terminal), "nn  64  best 9.87 us");
  EXPECT_EQ(BarLine("nn", 1.0, "1", "", terminal), "nn  [##############################]  1");
}

TEST(ReadersTest, WrongWordsNameTheNearestRightOne) {
  EXPECT_EQ(ReadProposer("locl").status().message(), "'locl' is no proposer; did you mean 'local'?");
  EXPECT_EQ(ReadProposer("zzz").status().message(),
            "'zzz' is no proposer; there are random, ranked, local, evolution, bayes, nvmmh, policy and llm");
  EXPECT_EQ(ReadObjective("joules").status().message(), "'joules' is no objective; there are time and energy");
  EXPECT_EQ(*ReadObjective("energy"), Objective::kEnergy);
  EXPECT_EQ(ReadAccumulation("bf16").status().message(), "'bf16' is no accumulation; did you mean 'f16'?");
  EXPECT_EQ(*ReadAccumulation("f16"), Accumulation::kF16);
  EXPECT_EQ(ReadOutcomeKind("measurd").status().message(), "'measurd' is no outcome; did you mean 'measured'?");
  EXPECT_NE(ReadArchitecture("sm_90").status().message().find("sm_90a"), std::string::npos);
  EXPECT_NE(ReadDevice("h20").status().message().find("h200"), std::string::npos);
}

TEST(ReadersTest, ListsKeepOrderAndDropRepeats) {
  EXPECT_EQ(*ReadLayouts("tn,nn,tn"), (std::vector<Layout>{kTn, kNn}));
  EXPECT_EQ(*ReadLayouts("both"), (std::vector<Layout>{kNn, kTn}));
  EXPECT_FALSE(ReadLayouts("nn,").ok());
  EXPECT_FALSE(ReadTypes("").ok());
}

TEST(ReadersTest, AxesAndGroupsOfPairsAreNamedWithTheNearestWhereTheyAreWrong) {
  EXPECT_EQ(*ReadPlanAxis("warps_k"), "warps_k");
  EXPECT_EQ(ReadPlanAxis("stage").status().message(), "'stage' is no axis of a plan; did you mean 'stages'?");
  EXPECT_FALSE(ReadPlanAxis("class").ok()) << "a group, no axis";
  EXPECT_EQ(*ReadPairGroups("class,split,class"), (std::vector<std::string>{"class", "split"}));
  EXPECT_EQ(ReadPairGroups("class,tiles").status().message(), "'tiles' is no group; did you mean 'tile'?");
  EXPECT_EQ(*ReadTimeClock("device_chained"), Clock::kDeviceChained);
  EXPECT_FALSE(ReadTimeClock("energy").ok());
}

TEST(ReadersTest, ColumnsOfAnotherTableAreRenamed) {
  const std::map<std::string, std::string> names = {{"a", "cublas_nn"}, {"b", "shape"}};
  EXPECT_EQ(*ReadColumnNames("a=cublas_nn,b=shape"), names);
  for (const char* text : {"", "a", "a=", "=b", "a=b=c", "a=b,"}) EXPECT_FALSE(ReadColumnNames(text).ok()) << text;
  EXPECT_EQ(*ReadUnitNs("us"), 1000);
  EXPECT_EQ(ReadUnitNs("s").status().message().substr(0, 14), "'s' is no unit");
  EXPECT_EQ(*ReadAgreementGroup("power"), AgreementGroup::kPower);
  EXPECT_FALSE(ReadAgreementGroup("").ok());
}

TEST(ReadersTest, NumbersOutsideTheirRangeAreRefused) {
  for (const char* text : {"", "0", "-1", "1.5", "1e3", "99999999999999999999", "7x", " 7"}) {
    EXPECT_FALSE(ReadCount(text).ok()) << text;
  }
  for (const char* text : {"", "0", "-1", "nan", "inf", "1e3", "x"})
    EXPECT_FALSE(ReadPositiveSeconds(text).ok()) << text;
  EXPECT_TRUE(AsksForAGpu("auto"));
  EXPECT_TRUE(AsksForAGpu("gpu:3"));
  EXPECT_FALSE(AsksForAGpu("h200"));
  for (const char* text : {"gpu:", "gpu:-1", "gpu:1x", "gpu", "a/b", "", "..", "H200"}) {
    EXPECT_EQ(ReadDeviceChoice(text).ok(), std::string_view(text) == "gpu") << text;
  }
  EXPECT_EQ(*ReadCount("7"), 7);
  EXPECT_EQ(*ReadPositiveSeconds("0.5"), 0.5);
}

TEST(ExitCodeTest, EveryKindOfFailureHasItsCode) {
  EXPECT_EQ(ExitCodeOf(StatusCode::kInvalidArgument), 2);
  EXPECT_EQ(ExitCodeOf(StatusCode::kNotFound), 3);
  EXPECT_EQ(ExitCodeOf(StatusCode::kUnavailable), 3);
  EXPECT_EQ(ExitCodeOf(StatusCode::kInterrupted), 130);
  EXPECT_EQ(ExitCodeOf(StatusCode::kIoError), 1);
  EXPECT_EQ(ExitCodeOf(StatusCode::kDataLoss), 1);
}

}  // namespace
}  // namespace gemmsmith
