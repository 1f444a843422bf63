#include "evaluate/time/device_clock.h"

#include <algorithm>

namespace gemmsmith {

namespace {

constexpr double kBatchNs = 1.5e6;
constexpr int kMinCalls = 3, kMaxCalls = 200;

Result<CallGraph> CaptureCalls(Gpu& gpu, const PutCall& call, int calls) {
  ASSIGN_OR_RETURN(Graph graph, gpu.Capture([&]() -> Status {
    for (int i = 0; i < calls; ++i) RETURN_IF_ERROR(call());
    return OkStatus();
  }));
  return CallGraph{std::move(graph), calls};
}

// Of the second of two replays: the first one uploads the graph and warms the caches.
Result<double> NsPerCall(Gpu& gpu, const CallGraph& graph) {
  ASSIGN_OR_RETURN(const Event first, gpu.MakeEvent());
  ASSIGN_OR_RETURN(const Event last, gpu.MakeEvent());
  RETURN_IF_ERROR(gpu.Replay(graph.graph));
  RETURN_IF_ERROR(gpu.Record(first));
  RETURN_IF_ERROR(gpu.Replay(graph.graph));
  RETURN_IF_ERROR(gpu.Record(last));
  ASSIGN_OR_RETURN(const double elapsed, gpu.ElapsedNs(first, last));
  return elapsed / graph.calls;
}

}  // namespace

Result<CallGraph> CallGraph::Capture(Gpu& gpu, const PutCall& call) {
  ASSIGN_OR_RETURN(CallGraph probe, CaptureCalls(gpu, call, kMinCalls));
  ASSIGN_OR_RETURN(const double estimate, NsPerCall(gpu, probe));
  const double wanted = kBatchNs / std::max(estimate, 1.0);
  const int calls = int(std::clamp(wanted, double(kMinCalls), double(kMaxCalls)));
  if (calls == kMinCalls) return probe;
  return CaptureCalls(gpu, call, calls);
}

Result<DeviceClock> DeviceClock::Create(Gpu& gpu, size_t contenders, PutCall put_lead_in) {
  DeviceClock clock(gpu, std::move(put_lead_in));
  for (size_t i = 0; i < contenders; ++i) {
    ASSIGN_OR_RETURN(Event first, gpu.MakeEvent());
    ASSIGN_OR_RETURN(Event last, gpu.MakeEvent());
    clock.events_.emplace_back(std::move(first), std::move(last));
  }
  return clock;
}

Result<std::vector<double>> DeviceClock::TimeRound(std::span<const CallGraph* const> graphs,
                                                   std::span<const size_t> order) {
  RETURN_IF_ERROR(put_lead_in_());
  for (size_t i : order) {
    RETURN_IF_ERROR(gpu_.Record(events_[i].first));
    RETURN_IF_ERROR(gpu_.Replay(graphs[i]->graph));
    RETURN_IF_ERROR(gpu_.Record(events_[i].second));
  }
  std::vector<double> times(graphs.size());
  for (size_t i : order) {
    ASSIGN_OR_RETURN(const double elapsed, gpu_.ElapsedNs(events_[i].first, events_[i].second));
    times[i] = elapsed / graphs[i]->calls;
  }
  return times;
}

}  // namespace gemmsmith
