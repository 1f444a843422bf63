// The counters of a source, after its judgement.
#include "evaluate/isolate/guest_counters.h"
#include "evaluate/source_exchange.h"

namespace gemmsmith {

namespace {
constexpr double kRequestSeconds = 8;
}

void SourceExchange::ReadCounters() {
  if (outcome_->kind != OutcomeKind::kMeasured && outcome_->kind != OutcomeKind::kVerified) return;
  Announce(kCountersStep);
  guest_.reset();
  Result<Counters> counters = CountCall();
  if (!counters.ok()) {
    const std::string reason = counters.status().message();
    counters = Counters();
    counters->lacks = reason;
  }
  outcome_->counters = *std::move(counters);
}

Result<Counters> SourceExchange::CountCall() {
  ASSIGN_OR_RETURN(GuestProcess guest, StartGuest(true));
  RETURN_IF_ERROR(CopyIn(*setup_.normal));
  RETURN_IF_ERROR(tools_.gpu.Synchronize());
  return CountersFrom(guest, CallFor(GuestWork::kCountedCall, 1, 0), kRequestSeconds,
                      [this] { Announce(kCountersStep); });
}

}  // namespace gemmsmith
