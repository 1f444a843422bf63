#include "search/recorded_cells.h"

#include <algorithm>
#include <cmath>

#include "base/bytes.h"
#include "base/hash.h"

namespace gemmsmith {

namespace {

const Outcome& Screened(const Recording& recording, const Gemm& gemm, const Plan& plan) {
  return recording.Find(gemm, plan, Protocol::kScreen)->outcome;
}

Space LegalPlans(const Recording& recording, const Gemm& gemm) {
  const Space recorded = recording.SpaceFor(gemm);
  std::vector<Plan> plans = recorded.plans();
  std::erase_if(plans, [&](const Plan& plan) { return Screened(recording, gemm, plan).kind == OutcomeKind::kIllegal; });
  return Space(std::move(plans));
}

}  // namespace

RecordedCells::RecordedCells(const Recording& recording, const Gemm& gemm)
    : gemm_(gemm), space_(LegalPlans(recording, gemm)) {
  GEMMSMITH_CHECK(space_.size() <= UINT16_MAX, "{} plans of {}", space_.size(), Print(gemm));
  double best_ns = INFINITY;
  for (const Plan& plan : space_.plans()) {
    outcomes_.push_back(&Screened(recording, gemm, plan));
    if (outcomes_.back()->IsTimed()) best_ns = std::min(best_ns, outcomes_.back()->TimeNs());
  }
  for (const Outcome* outcome : outcomes_) worths_.push_back(outcome->IsTimed() ? best_ns / outcome->TimeNs() : 0);
}

bool RecordedCells::HasMeasured() const {
  return std::any_of(worths_.begin(), worths_.end(), [](double worth) { return worth > 0; });
}

uint64_t RecordedCells::Fingerprint() const {
  ByteWriter numbers;
  for (const Outcome* outcome : outcomes_) {
    numbers.Put(uint8_t(outcome->kind));
    numbers.Put(outcome->IsTimed() ? outcome->TimeNs() : 0.0);
  }
  return HashBytes(std::move(numbers).Take()).low;
}

std::vector<uint16_t> Follow(Proposer& proposer, const RecordedCells& cells, size_t most, size_t batch) {
  std::vector<uint16_t> followed;
  while (followed.size() < most) {
    const size_t wanted = std::clamp<size_t>(followed.size(), 1, batch);
    const std::vector<Plan> plans = proposer.Propose(int(std::min(wanted, most - followed.size())));
    if (plans.empty()) break;
    for (const Plan& plan : plans) {
      const std::optional<size_t> cell = cells.space().IndexOf(plan);
      GEMMSMITH_CHECK(cell, "{} proposed {}", proposer.name(), Print(plan));
      followed.push_back(uint16_t(*cell));
    }
    for (size_t i = followed.size() - plans.size(); i < followed.size(); ++i)
      proposer.Observe(cells.space().plans()[followed[i]], cells.OutcomeOf(followed[i]));
  }
  return followed;
}

}  // namespace gemmsmith
