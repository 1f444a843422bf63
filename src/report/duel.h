// Whose winners are faster: what several searches found best for the same problems, raced beside each other.
#pragma once

#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "archive/standings.h"
#include "base/statistics.h"
#include "report/sheet.h"

namespace gemmsmith {

// Of each problem the times of the plans that raced, device clock: those of its most careful protocol, of a plan the
// latest.
class Races {
 public:
  // Refuses trials without a timed plan, and of several device models.
  static Result<Races> Of(std::span<const Trial> trials);
  bool Has(const Gemm& gemm) const { return problems_.contains(gemm); }
  // Nothing where the plan did not race.
  std::optional<double> TimeNs(const Gemm& gemm, const Plan& plan) const;
  double FastestNs(const Gemm& gemm) const;
  std::vector<Gemm> Problems() const;
  const std::string& device_key() const { return device_key_; }
  const std::string& device_name() const { return device_name_; }
  std::pair<int64_t, int64_t> UnixMs() const;  // of the first and the last trial

 private:
  struct Time {
    double ns = 0;
    int64_t unix_ms = 0;
  };
  struct Problem {
    Protocol protocol;
    std::map<Plan, Time> times;
  };
  std::map<Gemm, Problem> problems_;
  std::string device_key_, device_name_;
};

// What one search tried and found.
class DuelSide {
 public:
  explicit DuelSide(std::string name) : name_(std::move(name)) {}
  // Of the races' problems and device; what else was tried does not matter.
  void Take(const Trial& trial, const Races& races);
  const std::string& name() const { return name_; }
  // As BestPlans has it; null where nothing was timed.
  const Plan* Winner(const Gemm& gemm) const { return best_.Find(gemm); }
  // Or a twin of it, which differs in what it knows of the dimensions or in its trigger alone.
  bool Tried(const Gemm& gemm, const Plan& plan) const;

 private:
  std::string name_;
  BestPlans best_;
  std::set<std::pair<Gemm, Plan>> tried_;
};

// Against the first side: over the shapes of the problems in whose races both have their winners, of each the faster of
// the layouts, the first side's time over this one's; above 1 this one is faster.
struct DuelRow {
  std::string name;
  int problems = 0;       // whose races its winner was in
  int not_raced = 0;      // all others
  double of_fastest = 0;  // mean over problems: the time of the fastest plan that raced over its winner's
  int shapes = 0;
  double mean = 0;
  Interval interval;  // 95 % of the mean, as far as other shapes would change it
  double lowest = 0, highest = 0;
  Shape lowest_shape, highest_shape;
  int near = 0;     // at least 0.98
  int untried = 0;  // problems whose winner the first side had not tried
};

// A row a side, in their order. NotFound where none of a side's winners raced with one of the first side's.
Result<std::vector<DuelRow>> Duel(const Races& races, std::span<const DuelSide> sides);

Sheet DuelSheet(std::span<const DuelRow> rows);
nlohmann::ordered_json DuelJson(std::span<const DuelRow> rows);

}  // namespace gemmsmith
