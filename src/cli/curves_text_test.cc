#include "cli/curves_text.h"

#include <gtest/gtest.h>

#include "base/text.h"

namespace gemmsmith {
namespace {

std::vector<double> Flat(double value) { return std::vector<double>(64, value); }

std::vector<std::string> LinesOf(const std::vector<DrawnCurve>& curves, int columns = 80) {
  const std::string text = CurvesText(curves, {.columns = columns});
  std::vector<std::string> lines;
  for (const std::string_view line : Split(text, '\n')) lines.emplace_back(line);
  return lines;
}

size_t LineOf(const std::vector<std::string>& lines, std::string_view part) {
  for (size_t i = 0; i < lines.size(); ++i)
    if (lines[i].find(part) != std::string::npos) return i;
  return lines.size();
}

TEST(CurvesTextTest, AFlatCurveStandsInTheLineOfItsValue) {
  const std::vector<std::string> lines = LinesOf({{"good", Flat(0.95)}, {"bad", Flat(0.5)}});
  EXPECT_EQ(LineOf(lines, "aaaa"), LineOf(lines, "  95 % |"));
  EXPECT_EQ(LineOf(lines, "bbbb"), LineOf(lines, "  50 % |"));
  EXPECT_LT(LineOf(lines, "a good   b bad"), lines.size());
}

TEST(CurvesTextTest, CurvesThatMeetTakeTurns) {
  const std::vector<std::string> lines = LinesOf({{"one", Flat(0.9)}, {"two", Flat(0.9)}, {"low", Flat(0.3)}});
  EXPECT_LT(LineOf(lines, "abababab"), lines.size());
}

TEST(CurvesTextTest, ARiseStandsAtItsEvaluationsAndWhatIsPerfectInTheFirstLine) {
  std::vector<double> values = Flat(1);
  for (size_t i = 0; i < 7; ++i) values[i] = 0.5;
  const std::vector<std::string> lines = LinesOf({{"late", values}});
  const std::string& top = lines[0];
  const size_t eight = lines[LineOf(lines, "evaluations")].find('8');
  EXPECT_EQ(top.find('a'), eight);
  EXPECT_EQ(lines[15].rfind('a') + 1, eight);
}

TEST(CurvesTextTest, FitsTheTerminal) {
  std::vector<DrawnCurve> many;
  for (const char* name : {"random", "ranked", "local", "evolution", "bayes", "nvmmh", "policy", "no_contrast"})
    many.push_back({name, Flat(0.8)});
  for (const int columns : {60, 80, 120})
    for (const std::string& line : LinesOf(many, columns)) EXPECT_LE(int(line.size()), columns) << line;
}

}  // namespace
}  // namespace gemmsmith
