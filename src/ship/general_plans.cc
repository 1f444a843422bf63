#include "ship/general_plans.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "program/cost.h"
#include "program/family.h"
#include "program/launch.h"
#include "program/legality.h"

namespace gemmsmith {

namespace {

// Natural logarithms. A plan that was not searched for a problem is about so much slower than predicted: a first choice
// by the model alone reaches 94 % of the best. And a problem that no plan serves.
constexpr double kUnsearched = 0.06, kUnserved = 3;
constexpr int kDeepK = 1 << 20;
constexpr int kMostRows[] = {16, 64, 128, 256, std::numeric_limits<int>::max()};

Plan GeneralForm(const Plan& plan) { return WithTrigger(WithFixed(plan, FixedDimensions::kNone), Trigger::kNone); }

// All of K in shared memory is for short K alone, and its text depends on K.
bool MayShip(const Plan& plan, const Gemm& gemm, const Device& device) {
  Gemm deep = gemm;
  deep.shape.k = kDeepK;
  if (!IsLegal(plan, gemm, device) || !IsLegal(plan, deep, device)) return false;
  const Launch launch = LaunchFor(plan, gemm);
  return launch.deterministic && launch.workspace_bytes == 0;
}

struct Scored {
  GeneralPlan general;
  std::vector<double> behind;  // the entries' own plans, in logarithms
};

double Behind(const Plan& plan, const Entry& entry, const Device& device) {
  const Plan own = GeneralForm(entry.plan);
  if (plan == own) return 0;
  if (!IsLegal(plan, entry.gemm, device)) return kUnserved;
  return kUnsearched +
         std::max(0.0, std::log(PredictTimeNs(plan, entry.gemm, device) / PredictTimeNs(own, entry.gemm, device)));
}

std::vector<Scored> CandidatesOf(const std::vector<const Entry*>& entries, const Device& device) {
  std::map<Plan, int> users;
  for (const Entry* entry : entries)
    if (const Plan plan = GeneralForm(entry->plan); MayShip(plan, entry->gemm, device)) ++users[plan];
  std::vector<Scored> candidates;
  for (const auto& [plan, count] : users) {
    Scored& candidate = candidates.emplace_back();
    candidate.general = {.plan = plan, .entries = count};
    for (const Entry* entry : entries) candidate.behind.push_back(Behind(plan, *entry, device));
  }
  return candidates;
}

double SumWith(const std::vector<double>& best, const std::vector<double>& behind) {
  double sum = 0;
  for (size_t i = 0; i < best.size(); ++i) sum += std::min(best[i], behind[i]);
  return sum;
}

std::vector<GeneralPlan> ChooseFor(const std::vector<const Entry*>& entries, const Device& device, size_t count) {
  std::vector<Scored> candidates = CandidatesOf(entries, device);
  std::vector<double> best(entries.size(), kUnserved);
  std::vector<GeneralPlan> plans;
  while (plans.size() < count && !candidates.empty()) {
    const auto chosen = std::min_element(candidates.begin(), candidates.end(), [&](const Scored& a, const Scored& b) {
      return SumWith(best, a.behind) < SumWith(best, b.behind);
    });
    for (size_t i = 0; i < best.size(); ++i) best[i] = std::min(best[i], chosen->behind[i]);
    chosen->general.covered = std::exp(-SumWith(best, best) / double(entries.size()));
    plans.push_back(chosen->general);
    candidates.erase(chosen);
  }
  return plans;
}

}  // namespace

std::vector<RowClass> ChooseGeneralPlans(const Catalogue& catalogue, const Device& device, size_t count) {
  std::vector<RowClass> classes;
  int above = 0;
  for (const int most : kMostRows) {
    std::vector<const Entry*> entries;
    for (const auto& [gemm, entry] : catalogue.entries())
      if (gemm.kind.accumulation == Accumulation::kF32 && !gemm.kind.constant_b && gemm.shape.m > above &&
          gemm.shape.m <= most)
        entries.push_back(&entry);
    classes.push_back({most, entries.size(), ChooseFor(entries, device, count)});
    above = most;
  }
  return classes;
}

std::vector<Gemm> ProblemsOfAllTexts() {
  std::vector<Gemm> problems;
  for (const Layout& layout : kLayouts)
    for (const ScalarType type : {ScalarType::kF16, ScalarType::kBf16})
      for (const int m : {4096, 4104})
        for (const int n : {4096, 4104})
          for (const int k : {4096, 4104})
            problems.push_back({.shape = {m, n, k}, .kind = {.layout = layout, .type = type}});
  return problems;
}

}  // namespace gemmsmith
