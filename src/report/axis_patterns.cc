#include "report/axis_patterns.h"

#include <fmt/format.h>

#include <cmath>
#include <functional>

#include "base/statistics.h"
#include "base/text.h"
#include "program/family.h"

namespace gemmsmith {
namespace {

struct Point {
  Shape shape;
  int value = 0;
};

struct NumberAxis {
  std::string name;
  std::function<std::optional<int>(const Plan&)> value;
};

// A word that is a number counts as one: raster=8, stages=4, but not stages=resident.
std::optional<int> NumberOn(const Plan& plan, const Axis& axis) {
  const std::optional<long long> number = ParseInteger(axis.Print(plan.Get(axis.name)));
  return number ? std::optional(int(*number)) : std::nullopt;
}

std::vector<NumberAxis> NumberAxes(const Family& family) {
  std::vector<NumberAxis> axes;
  for (const Axis& axis : family.axes)
    if (!IsRetired(axis)) axes.push_back({std::string(axis.name), [&axis](const Plan& plan) { return NumberOn(plan, axis); }});
  for (const std::string product : {"tile", "cluster"}) {
    const std::string m = product + "_m", n = product + "_n";
    if (family.IndexOf(m) < 0 || family.IndexOf(n) < 0) continue;
    axes.push_back({m + "*" + n, [=](const Plan& plan) { return std::optional(plan.Get(m) * plan.Get(n)); }});
  }
  return axes;
}

std::optional<double> CorrelationWith(const std::vector<Point>& points, Extent extent) {
  std::vector<double> sizes, values;
  for (const Point& point : points) {
    sizes.push_back(SizeOf(point.shape, extent));
    values.push_back(point.value);
  }
  return RankCorrelation(sizes, values);
}

std::vector<Octave> OctavesOf(const std::vector<Point>& points, Extent extent) {
  const int width = extent == Extent::kMN || extent == Extent::kMNK ? 2 : 1;
  std::map<int, std::vector<double>> values;
  for (const Point& point : points)
    values[std::ilogb(SizeOf(point.shape, extent)) / width * width].push_back(point.value);
  std::vector<Octave> octaves;
  for (const auto& [low, of_octave] : values) {
    Octave octave{.low = low, .high = low + width, .median = Median(of_octave)};
    octave.values.group = fmt::format("{} to {}", octave.low, octave.high);
    for (const double value : of_octave) octave.values.Add({{int(value)}, fmt::format("{}", value)});
    octaves.push_back(std::move(octave));
  }
  return octaves;
}

AxisPattern PatternOf(const Family& family, const NumberAxis& axis, const std::vector<Point>& points) {
  AxisPattern pattern{.family = std::string(family.name), .axis = axis.name, .winners = int(points.size())};
  for (const Extent extent : kExtents) {
    const std::optional<double> correlation = pattern.correlation[size_t(extent)] = CorrelationWith(points, extent);
    if (correlation && (!pattern.follows || std::fabs(*correlation) > std::fabs(pattern.Correlation())))
      pattern.follows = extent;
  }
  if (pattern.follows) pattern.octaves = OctavesOf(points, *pattern.follows);
  return pattern;
}

}  // namespace

double SizeOf(const Shape& shape, Extent extent) {
  switch (extent) {
    case Extent::kM:
      return shape.m;
    case Extent::kN:
      return shape.n;
    case Extent::kK:
      return shape.k;
    case Extent::kMN:
      return double(shape.m) * shape.n;
    case Extent::kMNK:
      break;
  }
  return shape.Volume();
}

std::vector<FamilyExtents> ExtentsOfFamilies(const std::vector<WinningPlan>& winners) {
  std::vector<FamilyExtents> list;
  for (const Family& family : Families()) {
    std::vector<double> mn, k;
    for (const WinningPlan& winner : winners) {
      if (winner.plan.family != family.id) continue;
      mn.push_back(SizeOf(winner.gemm.shape, Extent::kMN));
      k.push_back(SizeOf(winner.gemm.shape, Extent::kK));
    }
    if (!k.empty()) list.push_back({std::string(family.name), int(k.size()), RankCorrelation(mn, k)});
  }
  return list;
}

std::vector<AxisPattern> AxisPatterns(const std::vector<WinningPlan>& winners) {
  std::vector<AxisPattern> patterns;
  for (const Family& family : Families())
    for (const NumberAxis& axis : NumberAxes(family)) {
      std::vector<Point> points;
      for (const WinningPlan& winner : winners) {
        if (winner.plan.family != family.id) continue;
        if (const std::optional<int> value = axis.value(winner.plan)) points.push_back({winner.gemm.shape, *value});
      }
      if (!points.empty()) patterns.push_back(PatternOf(family, axis, points));
    }
  return patterns;
}

}  // namespace gemmsmith
