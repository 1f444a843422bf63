// The report of optimize on one shape, for people and for programs. Nothing in it depends on when or how fast it ran.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "campaign/campaign.h"
#include "cli/terminal.h"
#include "workflow/kernel_sources.h"

namespace gemmsmith {

// The speed-up over one kind of baseline ("lt_auto", without its layout).
struct SpeedUp {
  std::string baseline;
  RatioEstimate ratio;
};

struct LayoutFinding {
  Gemm gemm;
  std::string campaign;
  ProblemResult result;
  KernelSources sources;  // empty where no plan passed
};

struct OptimizeReport {
  Shape shape;
  ScalarType type = ScalarType::kF16;
  Accumulation accumulation = Accumulation::kF32;
  bool replayed = false;
  std::string recorded_date;  // of a replay
  Device device;
  Setting setting;
  std::string proposer;
  Objective objective = Objective::kTime;
  uint64_t seed = 0;
  std::string archive_path;
  std::vector<LayoutFinding> layouts;

  // The faster of the layouts' best; null where no plan passed.
  const LayoutFinding* Best() const;
};

// Ours against the baselines of the same layout, on the leading clock.
std::vector<SpeedUp> SameLayoutSpeedUps(const LayoutFinding& finding);
// The faster of ours against the faster of each baseline's layouts.
std::vector<SpeedUp> BestSpeedUps(const OptimizeReport& report);

std::string PrintText(const OptimizeReport& report, const Terminal& terminal);
std::string PrintJson(const OptimizeReport& report);

}  // namespace gemmsmith
