// The device clock: a graph of back-to-back calls, replayed between two events; time per call.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "gpu/gpu.h"

namespace gemmsmith {

// Puts one call of a contender on the GPU's stream.
using PutCall = std::function<Status()>;

// As many calls of one contender as take about 1.5 ms, at least 3 and at most 200.
struct CallGraph {
  Graph graph;
  int calls = 0;

  static Result<CallGraph> Capture(Gpu& gpu, const PutCall& call);
};

class DeviceClock {
 public:
  // `put_lead_in` keeps the GPU busy while the first graph of a round is on its way, so that no batch holds host time.
  static Result<DeviceClock> Create(Gpu& gpu, size_t contenders, PutCall put_lead_in);

  // Nanoseconds a call, by contender; the batches follow each other on the GPU in the given order.
  Result<std::vector<double>> TimeRound(std::span<const CallGraph* const> graphs, std::span<const size_t> order);

 private:
  DeviceClock(Gpu& gpu, PutCall put_lead_in) : gpu_(gpu), put_lead_in_(std::move(put_lead_in)) {}

  Gpu& gpu_;
  PutCall put_lead_in_;
  std::vector<std::pair<Event, Event>> events_;
};

}  // namespace gemmsmith
