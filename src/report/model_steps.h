// The time of a step of a public model, of ours and of cuBLASLt: a sum over its products (docs/models.md).
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "problem/models.h"
#include "report/scoreboard.h"

namespace gemmsmith {

// A product of the set `models` in its layout. Ratios are of one race, against the library in the same layout.
struct ModelProblem {
  Shape shape;
  Layout layout;
  std::optional<ShapeSpeedUp> over_heuristic, over_auto;
  std::optional<ShapeSpeedUp> chained_over_auto;  // of the problem with a constant B: ours in chains, the library plain
  double floor_ns = 0;                            // 0: of an unknown device

  // All contenders have a time.
  bool IsTimed() const { return over_heuristic && over_auto; }
  double OursNs() const { return over_auto->contender_ns; }
};

// Sums of weight times time over those products of a phase that are timed.
struct StepTime {
  int products = 0, timed = 0;
  double ours_ns = 0, heuristic_ns = 0, auto_ns = 0, floor_ns = 0;

  bool IsWhole() const { return timed == products; }
  double OverHeuristic() const { return heuristic_ns / ours_ns; }
  double OverAuto() const { return auto_ns / ours_ns; }
  double ShareOfFloor() const { return floor_ns / ours_ns; }
};

struct ModelPhase {
  Pass pass = Pass::kForward;
  int tokens = 0;
  StepTime time;
};

struct ModelSteps {
  std::string_view model;
  std::vector<ModelPhase> phases;  // in the order of the table
};

struct ModelReport {
  Selection selection;
  Clock clock = Clock::kDeviceCold;
  std::vector<ModelProblem> problems;   // the set, in its order
  std::vector<ModelSteps> models;       // all
  std::optional<Statistics> paper1000;  // of the same records: ours_max over lt_auto_max
  bool has_floor = false;

  std::vector<ModelProblem> In(ModelGroup group) const;
};

// Statistics of the problems that are timed; nullopt where none is.
std::optional<Statistics> OverHeuristic(const std::vector<ModelProblem>& problems);
std::optional<Statistics> OverAuto(const std::vector<ModelProblem>& problems);
std::optional<Statistics> ChainedOverAuto(const std::vector<ModelProblem>& problems);
// The geometric mean of floor over time; in chains of the products whose B has 16 MB and more.
std::optional<double> ShareOfFloor(const std::vector<ModelProblem>& problems);
std::optional<double> ChainedShareOfFloor(const std::vector<ModelProblem>& problems);

// The options' shapes are not looked at. NotFound where no product was timed on the clock.
Result<ModelReport> MakeModelReport(const std::vector<Trial>& trials, SelectionOptions options);

}  // namespace gemmsmith
