#include "search/pace.h"

namespace gemmsmith {

double Pace::TimeNs(const Outcome& outcome) {
  const std::optional<double> share = outcome.TimeOver("lt_auto", outcome.LeadingClock());
  if (!share) return outcome.TimeNs();
  if (!rivals_ns_) rivals_ns_ = outcome.TimeNs() / *share;
  return *rivals_ns_ * *share;
}

}  // namespace gemmsmith
