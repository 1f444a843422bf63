// The clock on which every call has operands of its own and every timed call is checked.
#pragma once

#include <string>

#include "evaluate/time/ring.h"
#include "evaluate/time/round_clock.h"

namespace gemmsmith {

// An entry's visit in a round: one replay of a graph that calls once on each set of the ring.
struct RingVisit {
  const CallGraph* graph = nullptr;
  Layout layout;
  Maker maker = Maker::kCandidate;
};

class RingClock : public RoundClock {
 public:
  // All graphs have as many calls. `gemm` in any layout that the ring has; the ring outlives the clock.
  static Result<std::unique_ptr<RoundClock>> Create(Gpu& gpu, Ring& ring, const Gemm& gemm,
                                                    std::vector<RingVisit> visits);

  // Nothing waits between the draw and the last check.
  Result<std::vector<double>> TimeRound(std::span<const size_t> order, const WaitListener& on_wait) override;
  std::string FaultOf(size_t entry) const override;

 private:
  RingClock(Gpu& gpu, Ring& ring, const Gemm& gemm, std::vector<RingVisit> visits)
      : gpu_(gpu), ring_(ring), gemm_(gemm), visits_(std::move(visits)) {}
  Gemm GemmOf(size_t entry) const;
  Status PutVisit(size_t entry);

  Gpu& gpu_;
  Ring& ring_;
  const Gemm gemm_;
  const std::vector<RingVisit> visits_;
  std::vector<EventPair> events_;
  DeviceMemory faults_on_gpu_;
  std::vector<uint64_t> faults_;
  int round_ = 0;
};

}  // namespace gemmsmith
