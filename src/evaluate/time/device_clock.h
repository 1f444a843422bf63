// The device clock: a graph of back-to-back calls, replayed between two events; time per call.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "gpu/gpu.h"

namespace gemmsmith {

// Puts one call of a contender on the GPU's stream.
using PutCall = std::function<Status()>;
// Told which contender the clock waits for next.
using WaitListener = std::function<void(size_t contender)>;

// How many calls are timed at once; docs/measuring.md says why so many.
enum class Batch {
  kBrief,  // at least 0.15 ms, 1 to 100 calls
  kLong,   // at least 0.6 ms, 3 to 200 calls
};

int CallsIn(Batch batch, double call_ns);

struct CallGraph {
  Graph graph;
  int calls = 0;

  // `call_ns` as EstimateNs() tells it.
  static Result<CallGraph> Capture(Gpu& gpu, const PutCall& call, double call_ns, Batch batch);
};

// The device time of a call, roughly: of three in a row after one that warms up. `put_lead_in` keeps the GPU busy until
// all of them are on their way.
Result<double> EstimateNs(Gpu& gpu, const PutCall& put_lead_in, const PutCall& call);

class DeviceClock {
 public:
  // `put_lead_in` keeps the GPU busy while the first graph of a round is on its way, so that no batch holds host time.
  static Result<DeviceClock> Create(Gpu& gpu, size_t contenders, PutCall put_lead_in);

  // Nanoseconds a call, by contender, of those in `order`, whose batches follow each other on the GPU in this order.
  Result<std::vector<double>> TimeRound(std::span<const CallGraph* const> graphs, std::span<const size_t> order,
                                        const WaitListener& on_wait);

 private:
  DeviceClock(Gpu& gpu, PutCall put_lead_in) : gpu_(gpu), put_lead_in_(std::move(put_lead_in)) {}

  Gpu& gpu_;
  PutCall put_lead_in_;
  std::vector<std::pair<Event, Event>> events_;
};

}  // namespace gemmsmith
