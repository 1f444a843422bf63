#include "cli/curves_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/check.h"

namespace gemmsmith {

namespace {

constexpr int kRows = 16, kMaxColumns = 100, kLabelColumns = 10, kMinColumns = 32;
constexpr double kMinMissing = 0.005;
constexpr double kTicks[] = {0, 0.25, 0.5, 0.7, 0.8, 0.9, 0.95, 0.98, 0.99, 0.995};

// Where fractions stand: row 0 is the top.
class Rows {
 public:
  explicit Rows(double lowest) : bottom_(std::log(std::max(2 * kMinMissing, 1 - lowest))) {}

  double Position(double fraction) const {
    const double missing = std::log(std::max(kMinMissing, 1 - fraction));
    return (missing - kTop) / (bottom_ - kTop) * (kRows - 1);
  }
  int Of(double fraction) const { return std::clamp(int(std::lround(Position(fraction))), 0, kRows - 1); }

 private:
  const double kTop = std::log(kMinMissing);
  double bottom_;
};

std::vector<std::string> LabelsOf(const Rows& rows) {
  std::vector<std::string> labels(kRows);
  for (const double tick : kTicks)
    if (rows.Position(tick) < kRows - 0.5) labels[size_t(rows.Of(tick))] = fmt::format("{:g} %", 100 * tick);
  return labels;
}

// The evaluations told in a column: the last that lie to its left.
size_t EvaluationsAt(int column, int columns, size_t most) {
  constexpr double kRounding = 1e-9;
  const double exact = std::exp2(std::log2(double(most)) * column / (columns - 1));
  return std::clamp<size_t>(size_t(exact + kRounding), 1, most);
}

std::string LinesOf(const std::vector<DrawnCurve>& curves, const Rows& rows, int columns, const Terminal& terminal) {
  std::vector<std::string> grid(kRows, std::string(size_t(columns), ' '));
  for (int column = 0; column < columns; ++column) {
    std::vector<std::string> letters(kRows);
    for (size_t i = 0; i < curves.size(); ++i) {
      const size_t evaluations = EvaluationsAt(column, columns, curves[i].values.size());
      letters[size_t(rows.Of(curves[i].values[evaluations - 1]))] += char('a' + i % 26);
    }
    for (size_t row = 0; row < kRows; ++row)
      if (!letters[row].empty()) grid[row][size_t(column)] = letters[row][size_t(column) % letters[row].size()];
  }
  const std::vector<std::string> labels = LabelsOf(rows);
  std::string text;
  for (size_t row = 0; row < kRows; ++row)
    text += fmt::format("  {:>7} {}{}\n", labels[row], terminal.unicode ? "│" : "|",
                        grid[row].substr(0, grid[row].find_last_not_of(' ') + 1));
  return text;
}

std::string AxisOf(int columns, size_t most, const Terminal& terminal) {
  std::string rule, numbers(size_t(columns) + 2, ' ');
  for (int column = 0; column < columns; ++column) rule += terminal.unicode ? "─" : "-";
  const int doublings = int(std::log2(double(most)));
  for (int i = 0; i <= doublings; ++i) {
    const std::string number = fmt::format("{}", 1 << i);
    const long place = std::lround(double(columns - 1) * i / doublings) - long(number.size() / 2);
    numbers.replace(size_t(std::max(0l, place)), number.size(), number);
  }
  numbers = numbers.substr(0, numbers.find_last_not_of(' ') + 1);
  return fmt::format("{:10}{}{}\n{:11}{}  evaluations\n", "", terminal.unicode ? "└" : "+", rule, "", numbers);
}

std::string LegendOf(const std::vector<DrawnCurve>& curves, int columns) {
  std::string text, line;
  for (size_t i = 0; i < curves.size(); ++i) {
    const std::string entry = fmt::format("{} {}", char('a' + i % 26), curves[i].name);
    if (!line.empty() && int(line.size() + 3 + entry.size()) > columns) {
      text += fmt::format("{:11}{}\n", "", line);
      line.clear();
    }
    line += (line.empty() ? "" : "   ") + entry;
  }
  return text + fmt::format("{:11}{}\n", "", line);
}

}  // namespace

std::string CurvesText(const std::vector<DrawnCurve>& curves, const Terminal& terminal) {
  GEMMSMITH_CHECK(!curves.empty(), "nothing to draw");
  const int columns = std::max(kMinColumns, std::min(terminal.columns, kMaxColumns) - kLabelColumns - 14);
  double lowest = 1;
  for (const DrawnCurve& curve : curves) lowest = std::min(lowest, curve.values.front());
  return LinesOf(curves, Rows(lowest), columns, terminal) + AxisOf(columns, curves[0].values.size(), terminal) +
         LegendOf(curves, columns);
}

}  // namespace gemmsmith
