// Reasons to end a piece of work early: budgets, deadlines, interrupts.
#pragma once

#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace gemmsmith {

class StopRule {
 public:
  virtual ~StopRule() = default;
  // `evaluations` counts resumed ones too where the work resumes, so that an interrupted run ends where it would have.
  struct Progress {
    int evaluations = 0;
    double seconds = 0;
  };
  // The reason in words ("budget of 64 evaluations used"); nullopt: go on.
  virtual std::optional<std::string> ShouldStop(const Progress& progress) = 0;
  // An upper bound of the evaluations that may still begin.
  virtual int EvaluationsLeft(const Progress& /*progress*/) const { return std::numeric_limits<int>::max(); }
};

std::unique_ptr<StopRule> StopAfterEvaluations(int evaluations);
std::unique_ptr<StopRule> StopAfterSeconds(double seconds);
std::unique_ptr<StopRule> StopOnInterrupt();  // SIGINT or SIGTERM arrived (base/interrupt.h)
// `test` may be called from several threads at once.
std::unique_ptr<StopRule> StopWhen(std::function<bool()> test, std::string reason);
std::unique_ptr<StopRule> StopOnAny(std::vector<std::unique_ptr<StopRule>> rules);
std::unique_ptr<StopRule> StopOnInterruptOrAfter(std::optional<double> seconds);

}  // namespace gemmsmith
