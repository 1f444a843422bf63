// One stored judgement: a subject, a problem, a setting and the outcome.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include "archive/trial_subject.h"
#include "outcome/outcome.h"
#include "outcome/setting.h"
#include "problem/gemm.h"

namespace gemmsmith {

struct Trial {
  Gemm gemm;
  TrialSubject subject;
  Outcome outcome;
  Setting setting;
  uint64_t seed = 0;
  int64_t unix_ms = 0;   // when it was stored
  std::string campaign;  // the run that stored it
  bool operator==(const Trial&) const = default;

  bool HasPlan() const { return std::holds_alternative<Plan>(subject); }
  const Plan& plan() const {
    GEMMSMITH_CHECK(HasPlan(), "a plan of {}", Print(subject));
    return std::get<Plan>(subject);
  }
  // A plan that was measured on the leading clock: the trials that searches, replays and standings use.
  bool IsTimedPlan() const { return HasPlan() && outcome.IsTimed(); }
  // Finals and catalogues decide by this time of a timed plan. Kernels for a constant B are there for their chains:
  // they compare by their chained time, and by their plain one where they do not chain.
  double DecidingNs() const {
    const Timing* const chained = gemm.kind.constant_b ? outcome.OursChained() : nullptr;
    return chained != nullptr ? chained->median_ns : outcome.TimeNs();
  }
};

inline int64_t UnixMsNow() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::milliseconds>(now).count();
}

// The order of care is screen, heat, short, long.
inline bool MoreCareful(Protocol protocol, Protocol than) {
  const auto care = [](Protocol p) {
    return p == Protocol::kScreen ? 0 : p == Protocol::kHeat ? 1 : p == Protocol::kShort ? 2 : 3;
  };
  return care(protocol) > care(than);
}

}  // namespace gemmsmith
