// The clocks of the device: a graph of back-to-back calls, replayed between two events; time per call.
#pragma once

#include <optional>

#include "evaluate/time/round_clock.h"
#include "gpu/gpu.h"

namespace gemmsmith {

// How many calls are timed at once; docs/measuring.md says why so many.
enum class Batch {
  kBrief,  // at least 0.15 ms, 1 to 100 calls
  kLong,   // at least 0.6 ms, 3 to 200 calls
};

int CallsIn(Batch batch, double call_ns);
// How often the graph of a batch is made; its twins alternate.
int TwinsOf(Batch batch);

struct CallGraph {
  std::vector<Graph> twins;  // at least one
  int calls = 0;             // in each

  const Graph& at(int round) const { return twins[size_t(round) % twins.size()]; }

  // So many calls, which alternate: more than one where each has operands of its own.
  static Result<CallGraph> Capture(Gpu& gpu, std::span<const PutCall> calls, int count, int twins = 1);
  // `call_ns` as EstimateNs() tells it.
  static Result<CallGraph> Capture(Gpu& gpu, const PutCall& call, double call_ns, Batch batch) {
    return Capture(gpu, {&call, 1}, CallsIn(batch, call_ns), TwinsOf(batch));
  }
};

// The device time of a call, roughly: of three in a row after one that warms up. `put_lead_in` keeps the GPU busy until
// all of them are on their way.
Result<double> EstimateNs(Gpu& gpu, const PutCall& put_lead_in, const PutCall& call);

// An entry's visit in a round: replays of its graph that nobody times, then those between the events.
struct Visit {
  const CallGraph* graph = nullptr;
  int untimed_replays = 0;
  int timed_replays = 1;
};

// A visit long enough that the GPU reaches the steady state of this entry.
struct Window {
  double untimed_ns = 0, timed_ns = 0;
};
// At least 0.1 s timed, also where `call_ns` is a fifth too much. Kernels that differ by 2 to 3 % alternated at the
// power cap: 20 ms after a change a call took its final time within 0.3 % (docs/lab/neighbours.md).
inline constexpr Window kSteadyStateWindow = {20e6, 120e6};
// One replay where there is no window.
Visit VisitFor(const CallGraph& graph, double call_ns, const std::optional<Window>& window);

class DeviceClock : public RoundClock {
 public:
  // `put_lead_in` keeps the GPU busy while the first graph of a round is on its way, so that no batch holds host time.
  static Result<std::unique_ptr<RoundClock>> Create(Gpu& gpu, std::vector<Visit> visits, PutCall put_lead_in);

  Result<std::vector<double>> TimeRound(std::span<const size_t> order, const WaitListener& on_wait) override;

 private:
  DeviceClock(Gpu& gpu, std::vector<Visit> visits, PutCall put_lead_in)
      : gpu_(gpu), visits_(std::move(visits)), put_lead_in_(std::move(put_lead_in)) {}
  Status PutVisit(size_t entry);
  const Graph& GraphOf(size_t entry) const { return visits_[entry].graph->at(round_); }

  Gpu& gpu_;
  const std::vector<Visit> visits_;
  const PutCall put_lead_in_;
  std::vector<EventPair> events_;
  int round_ = 0;
};

}  // namespace gemmsmith
