#include "base/stop_rule.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/interrupt.h"

namespace gemmsmith {

namespace {

using Progress = StopRule::Progress;

using Test = std::function<bool(const Progress&)>;

class SimpleRule : public StopRule {
 public:
  SimpleRule(Test test, std::string reason) : test_(std::move(test)), reason_(std::move(reason)) {}
  std::optional<std::string> ShouldStop(const Progress& progress) override {
    return test_(progress) ? std::optional(reason_) : std::nullopt;
  }

 private:
  const Test test_;
  const std::string reason_;
};

std::unique_ptr<StopRule> MakeRule(Test test, std::string reason) {
  return std::make_unique<SimpleRule>(std::move(test), std::move(reason));
}

class EvaluationBudget : public StopRule {
 public:
  explicit EvaluationBudget(int evaluations) : evaluations_(evaluations) {}
  std::optional<std::string> ShouldStop(const Progress& progress) override {
    if (EvaluationsLeft(progress) > 0) return std::nullopt;
    return fmt::format("budget of {} evaluations used", evaluations_);
  }
  int EvaluationsLeft(const Progress& progress) const override {
    return std::max(0, evaluations_ - progress.evaluations);
  }

 private:
  const int evaluations_;
};

class AnyRule : public StopRule {
 public:
  explicit AnyRule(std::vector<std::unique_ptr<StopRule>> rules) : rules_(std::move(rules)) {}
  std::optional<std::string> ShouldStop(const Progress& progress) override {
    for (const std::unique_ptr<StopRule>& rule : rules_) {
      if (std::optional<std::string> reason = rule->ShouldStop(progress)) return reason;
    }
    return std::nullopt;
  }
  int EvaluationsLeft(const Progress& progress) const override {
    int left = StopRule::EvaluationsLeft(progress);
    for (const std::unique_ptr<StopRule>& rule : rules_) left = std::min(left, rule->EvaluationsLeft(progress));
    return left;
  }

 private:
  std::vector<std::unique_ptr<StopRule>> rules_;
};

}  // namespace

std::unique_ptr<StopRule> StopAfterEvaluations(int evaluations) {
  return std::make_unique<EvaluationBudget>(evaluations);
}

std::unique_ptr<StopRule> StopAfterSeconds(double seconds) {
  return MakeRule([=](const Progress& progress) { return progress.seconds >= seconds; },
                  fmt::format("budget of {} s used", seconds));
}

std::unique_ptr<StopRule> StopOnInterrupt() {
  WatchForInterrupts();
  return MakeRule([](const Progress&) { return InterruptArrived(); }, "interrupted");
}

std::unique_ptr<StopRule> StopWhen(std::function<bool()> test, std::string reason) {
  return MakeRule([test = std::move(test)](const Progress&) { return test(); }, std::move(reason));
}

std::unique_ptr<StopRule> StopOnAny(std::vector<std::unique_ptr<StopRule>> rules) {
  return std::make_unique<AnyRule>(std::move(rules));
}

std::unique_ptr<StopRule> StopOnInterruptOrAfter(std::optional<double> seconds) {
  std::vector<std::unique_ptr<StopRule>> rules;
  rules.push_back(StopOnInterrupt());
  if (seconds) rules.push_back(StopAfterSeconds(*seconds));
  return StopOnAny(std::move(rules));
}

}  // namespace gemmsmith
