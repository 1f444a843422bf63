#include "race_summary.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>

#include "base/statistics.h"

namespace gemmsmith {

namespace {

constexpr double kBehind = 0.97, kNear = 1.2;
constexpr double kLeads[] = {1, 1.05, 1.1, 1.2, 1.3, 1.45};

template <class Predicate>
std::string Line(const std::string& name, const std::vector<Raced>& races, Predicate counts) {
  std::vector<double> ratios;
  for (const Raced& raced : races)
    if (counts(raced)) ratios.push_back(raced.ratio);
  if (ratios.empty()) return fmt::format("  {:<34} 0\n", name);
  return fmt::format("  {:<34} {:>4}  {:.3f}  least {:.3f}, {} below {}\n", name, ratios.size(), GeometricMean(ratios),
                     Quantile(ratios, 0),
                     std::count_if(ratios.begin(), ratios.end(), [](double ratio) { return ratio < kBehind; }),
                     kBehind);
}

std::string OffText(const std::string& name, const std::vector<double>& off) {
  return fmt::format("  {}: median {:.2f} of what was expected, 10 % below {:.2f}, 10 % above {:.2f}\n", name,
                     Median(off), Quantile(off, 0.1), Quantile(off, 0.9));
}

}  // namespace

void ReadExpected(const std::string& explanation, Raced& raced) {
  if (const size_t at = explanation.find("expected: "); at != explanation.npos)
    std::sscanf(explanation.c_str() + at, "expected: %lf us, cuBLASLt %lf us", &raced.expected_own_ns,
                &raced.expected_library_ns);
  raced.expected_own_ns *= 1e3, raced.expected_library_ns *= 1e3;
  constexpr std::string_view kBefore = "that was measured is ";
  if (const size_t at = explanation.find(kBefore); at != explanation.npos)
    std::sscanf(explanation.c_str() + at + kBefore.size(), "%lf", &raced.octaves);
  else if (explanation.find("no problem like it was measured") != explanation.npos)
    raced.octaves = std::numeric_limits<double>::infinity();
}

std::string SummaryOf(const std::vector<Raced>& races) {
  std::string text =
      "cuBLASLt over ours: races, geometric mean\n" + Line("all", races, [](const Raced&) { return true; });
  for (int i = 0; i <= int(ShapeClass::kUpper); ++i)
    text +=
        Line(std::string(Name(ShapeClass(i))), races, [&](const Raced& raced) { return int(raced.shape_class) == i; });
  text += Line("beyond 1.2 octaves", races, [](const Raced& raced) { return raced.octaves > kNear; });
  for (const bool whole : {true, false})
    for (const double lead : kLeads)
      text += Line(fmt::format("{} lines, lead of {} expected", whole ? "whole" : "ragged", lead), races,
                   [&](const Raced& raced) {
                     return raced.octaves <= kNear && raced.whole_lines == whole && raced.ExpectedLead() >= lead;
                   });
  std::vector<double> own, library;
  for (const Raced& raced : races) {
    own.push_back(raced.own_ns / raced.expected_own_ns);
    library.push_back(raced.library_ns / raced.expected_library_ns);
  }
  return text + OffText("our times", own) + OffText("cuBLASLt's", library);
}

}  // namespace gemmsmith
