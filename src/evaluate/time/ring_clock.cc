#include "evaluate/time/ring_clock.h"

namespace gemmsmith {

Result<std::unique_ptr<RoundClock>> RingClock::Create(Gpu& gpu, Ring& ring, const Gemm& gemm,
                                                      std::vector<RingVisit> visits) {
  std::unique_ptr<RingClock> clock(new RingClock(gpu, ring, gemm, std::move(visits)));
  const size_t entries = clock->visits_.size();
  for (const RingVisit& visit : clock->visits_)
    GEMMSMITH_CHECK(visit.graph->calls == clock->visits_[0].graph->calls, "batches of {} and {} calls on one ring",
                    visit.graph->calls, clock->visits_[0].graph->calls);
  ASSIGN_OR_RETURN(clock->events_, EventPair::MakeSeveral(gpu, entries));
  clock->faults_.resize(entries);
  ASSIGN_OR_RETURN(clock->faults_on_gpu_, gpu.Allocate(entries * sizeof(uint64_t)));
  if (entries > 0) RETURN_IF_ERROR(ring.RestoreBands(clock->visits_[0].graph->calls));
  RETURN_IF_ERROR(gpu.Fill8(clock->faults_on_gpu_.address(), 0, entries * sizeof(uint64_t)));
  return std::unique_ptr<RoundClock>(std::move(clock));
}

Gemm RingClock::GemmOf(size_t entry) const {
  Gemm gemm = gemm_;
  gemm.kind.layout = visits_[entry].layout;
  return gemm;
}

Status RingClock::PutVisit(size_t entry) {
  const RingVisit& visit = visits_[entry];
  const int sets = visit.graph->calls;
  RETURN_IF_ERROR(ring_.PutBeforeBatch(sets));
  RETURN_IF_ERROR(gpu_.Record(events_[entry].first));
  RETURN_IF_ERROR(gpu_.Replay(visit.graph->at(round_)));
  RETURN_IF_ERROR(gpu_.Record(events_[entry].last));
  return ring_.PutCheck(GemmOf(entry), visit.maker, sets, round_, faults_on_gpu_.as<uint64_t>() + entry);
}

// The draw keeps the GPU busy before the first visit: no pause precedes a batch.
Result<std::vector<double>> RingClock::TimeRound(std::span<const size_t> order, const WaitListener& on_wait) {
  std::vector<double> times(visits_.size());
  if (order.empty()) return times;
  RETURN_IF_ERROR(gpu_.ResetPersistingL2());
  RETURN_IF_ERROR(ring_.Draw(visits_[0].graph->calls));
  for (const size_t i : order) RETURN_IF_ERROR(PutVisit(i));
  for (const size_t i : order) {
    on_wait(i);
    ASSIGN_OR_RETURN(const double elapsed, gpu_.ElapsedNs(events_[i].first, events_[i].last));
    times[i] = elapsed / visits_[i].graph->calls;
  }
  auto* const bytes = reinterpret_cast<uint8_t*>(faults_.data());
  RETURN_IF_ERROR(gpu_.CopyToHost({bytes, faults_.size() * sizeof(uint64_t)}, faults_on_gpu_.address()));
  ++round_;
  return times;
}

std::string RingClock::FaultOf(size_t entry) const {
  const std::optional<RingFault> fault = RingFault::Of(faults_[entry]);
  if (!fault) return "";
  return fault->Print(visits_[entry].graph->calls, RingSums::For(GemmOf(entry), visits_[entry].maker).over_rows);
}

}  // namespace gemmsmith
