// Whose winners are faster: what several searches found best for the same problems, raced beside each other.
#pragma once

#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "archive/standings.h"
#include "report/sheet.h"

namespace gemmsmith {

// The races: of each problem the plans that were timed in them, device clock.
class Races {
 public:
  // Takes a measured plan; of two trials of one plan the later one counts.
  void Take(const Trial& trial);
  bool Has(const Gemm& gemm) const { return times_.contains(gemm); }
  // Nothing where it was not in the race.
  std::optional<double> TimeNs(const Gemm& gemm, const Plan& plan) const;
  double FastestNs(const Gemm& gemm) const;
  std::vector<Gemm> Problems() const;
  // "measured on an NVIDIA H200, 2026-11-23"
  std::string Where() const;

 private:
  std::map<Gemm, std::map<Plan, double>> times_;
  std::set<std::string> devices_;
  int64_t first_unix_ms_ = 0, last_unix_ms_ = 0;
};

// What one search tried and found on problems that were raced.
class DuelSide {
 public:
  DuelSide(std::string name, const Races& races) : name_(std::move(name)), races_(races) {}
  void Take(const Trial& trial);
  const std::string& name() const { return name_; }
  // The time of its winner in the race; nothing where it has none there.
  std::optional<double> TimeNs(const Gemm& gemm) const;
  const Plan* Winner(const Gemm& gemm) const { return best_.Find(gemm); }
  bool Tried(const Gemm& gemm, const Plan& plan) const { return tried_.contains({gemm, plan}); }

 private:
  std::string name_;
  const Races& races_;
  BestPlans best_;
  std::set<std::pair<Gemm, Plan>> tried_;
};

// Over the problems in whose races a side's winner is, and over the shapes that the first side has such winners of too,
// of each the faster of its layouts.
struct DuelRow {
  std::string name;
  int problems = 0;
  double of_fastest = 0;  // mean of: time of the fastest plan raced over that of the winner
  int shapes = 0;
  double mean = 0, lowest = 0;  // of: the first side's time over this one's; above 1 this one is faster
  int near = 0;                 // where that is at least 0.98
  int faster = 0;               // where it is above 1
  int untried = 0;              // problems whose winner the first side had not tried
};

// A row a side, in their order. NotFound where a side has no winner in any race, by its name.
Result<std::vector<DuelRow>> Duel(const Races& races, std::span<const DuelSide> sides);

Sheet DuelSheet(std::span<const DuelRow> rows);
nlohmann::ordered_json DuelJson(std::span<const DuelRow> rows);

}  // namespace gemmsmith
