#include "base/text.h"

#include <gtest/gtest.h>

namespace gemmsmith {
namespace {

using Words = std::vector<std::string_view>;

TEST(Text, SplitWordsIgnoresAnyWhiteSpace) {
  EXPECT_EQ(SplitWords("  a\tbc \n d"), (Words{"a", "bc", "d"}));
  EXPECT_TRUE(SplitWords("").empty());
  EXPECT_TRUE(SplitWords(" \t\r\n").empty());
}

TEST(Text, SplitKeepsEmptyFields) {
  EXPECT_EQ(Split("a,,b,", ','), (Words{"a", "", "b", ""}));
  EXPECT_EQ(Split("", ','), (Words{""}));
}

TEST(Text, ListLinesAreNumberedAndWithoutComments) {
  const std::vector<ListLine> lines = ListLines("# a list\n\n one # the first\r\n\t\r\n#two\nthree  ");
  ASSERT_EQ(lines.size(), 2u);
  EXPECT_EQ(lines[0].number, 3);
  EXPECT_EQ(lines[0].text, " one ");
  EXPECT_EQ(lines[1].number, 6);
  EXPECT_EQ(lines[1].text, "three  ");
  EXPECT_TRUE(ListLines("").empty());
}

TEST(Text, JoinIsTheInverseOfSplit) {
  const std::vector<std::string> words = {"a", "", "b"};
  EXPECT_EQ(Join(words, ", "), "a, , b");
  EXPECT_EQ(Join({}, ","), "");
}

TEST(Text, IntegersAreStrict) {
  EXPECT_EQ(ParseInteger("0"), 0);
  EXPECT_EQ(ParseInteger("-12"), -12);
  EXPECT_EQ(ParseInteger("9223372036854775807"), 9223372036854775807LL);
  for (std::string_view wrong : {"", " 1", "1 ", "+1", "1.0", "1e3", "0x10", "9223372036854775808", "--1", "-", "1\n"})
    EXPECT_FALSE(ParseInteger(wrong)) << '"' << wrong << '"';
  EXPECT_FALSE(ParseInteger(std::string_view("1\0", 2)));
}

TEST(Text, DoublesAreStrictAndFinite) {
  EXPECT_EQ(ParseDouble("2.5"), 2.5);
  EXPECT_EQ(ParseDouble("-3"), -3.0);
  EXPECT_EQ(ParseDouble(".5"), 0.5);
  for (std::string_view wrong : {"", "nan", "inf", "-inf", "1e3", "+1", " 1", "1 ", "1,5", "0x1p3", "."})
    EXPECT_FALSE(ParseDouble(wrong)) << '"' << wrong << '"';
  EXPECT_FALSE(ParseDouble(std::string(400, '9')));
  EXPECT_EQ(ParseDouble("1e-4", std::chars_format::general), 1e-4);
  for (std::string_view wrong : {"nan", "1e", "1e999", "e3"})
    EXPECT_FALSE(ParseDouble(wrong, std::chars_format::general)) << wrong;
}

TEST(Text, WordsOfOthersDoNotSteerATerminal) {
  EXPECT_EQ(WithoutControls("error: \xe2\x80\x98x\xe2\x80\x99 is unknown"),
            "error: \xe2\x80\x98x\xe2\x80\x99 is unknown");
  EXPECT_EQ(WithoutControls("\x1b[2J\x07\x7f\r"), "?[2J???");
  EXPECT_EQ(WithoutControls(std::string_view("a\0b", 3)), "a?b");
  EXPECT_EQ(WithoutControls("\xc2\x9b"
                            "2J \xc2\xb5s \xc2"),
            "?2J \xc2\xb5s \xc2");
}

TEST(Text, CountsAreGroupedByThousands) {
  EXPECT_EQ(CountText(0), "0");
  EXPECT_EQ(CountText(999), "999");
  EXPECT_EQ(CountText(1000), "1,000");
  EXPECT_EQ(CountText(-1234567), "-1,234,567");
  EXPECT_EQ(CountText(-123), "-123");
}

TEST(Text, OneIsNoPlural) {
  EXPECT_EQ(Plural(0, "plan"), "0 plans");
  EXPECT_EQ(Plural(1, "plan"), "1 plan");
  EXPECT_EQ(Plural(1200, "timed plan"), "1,200 timed plans");
}

TEST(Text, DatesAreDaysInUtc) { EXPECT_EQ(DateText(1700000000000), "2023-11-14"); }

TEST(Text, NearestWordHelpsWithSlipsOnly) {
  const Words known = {"optimize", "evaluate", "records", "nn", "tn"};
  EXPECT_EQ(NearestWord("optimise", known), "optimize");
  EXPECT_EQ(NearestWord("record", known), "records");
  EXPECT_EQ(NearestWord("evalute", known), "evaluate");
  EXPECT_EQ(NearestWord("nm", known), "nn");
  EXPECT_EQ(NearestWord("frobnicate", known), std::nullopt);
  EXPECT_EQ(NearestWord("xy", known), std::nullopt);
  EXPECT_EQ(NearestWord("x", known), std::nullopt);
  EXPECT_EQ(NearestWord("", known), std::nullopt);
  EXPECT_EQ(NearestWord("optimize", {}), std::nullopt);
}

}  // namespace
}  // namespace gemmsmith
