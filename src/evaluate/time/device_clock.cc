#include "evaluate/time/device_clock.h"

#include <algorithm>
#include <cmath>

namespace gemmsmith {

namespace {

struct BatchRule {
  double ns;
  int min_calls, max_calls;
};

BatchRule RuleFor(Batch batch) { return batch == Batch::kBrief ? BatchRule{0.15e6, 1, 100} : BatchRule{0.6e6, 3, 200}; }

}  // namespace

// So many that even a brief batch dwarfs the start of its graph.
int CallsIn(Batch batch, double call_ns) {
  const BatchRule rule = RuleFor(batch);
  return int(std::clamp(std::ceil(rule.ns / std::max(call_ns, 1.0)), double(rule.min_calls), double(rule.max_calls)));
}

Result<CallGraph> CallGraph::Capture(Gpu& gpu, const PutCall& call, double call_ns, Batch batch) {
  const int calls = CallsIn(batch, call_ns);
  ASSIGN_OR_RETURN(Graph graph, gpu.Capture([&]() -> Status {
    for (int i = 0; i < calls; ++i) RETURN_IF_ERROR(call());
    return OkStatus();
  }));
  return CallGraph{std::move(graph), calls};
}

Result<double> EstimateNs(Gpu& gpu, const PutCall& put_lead_in, const PutCall& call) {
  constexpr int kCalls = 3;
  ASSIGN_OR_RETURN(const Event first, gpu.MakeEvent());
  ASSIGN_OR_RETURN(const Event last, gpu.MakeEvent());
  RETURN_IF_ERROR(put_lead_in());
  RETURN_IF_ERROR(call());
  RETURN_IF_ERROR(gpu.Record(first));
  for (int i = 0; i < kCalls; ++i) RETURN_IF_ERROR(call());
  RETURN_IF_ERROR(gpu.Record(last));
  ASSIGN_OR_RETURN(const double elapsed, gpu.ElapsedNs(first, last));
  return elapsed / kCalls;
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
                                                   std::span<const size_t> order, const WaitListener& on_wait) {
  RETURN_IF_ERROR(put_lead_in_());
  for (size_t i : order) {
    RETURN_IF_ERROR(gpu_.Record(events_[i].first));
    RETURN_IF_ERROR(gpu_.Replay(graphs[i]->graph));
    RETURN_IF_ERROR(gpu_.Record(events_[i].second));
  }
  std::vector<double> times(graphs.size());
  for (size_t i : order) {
    on_wait(i);
    ASSIGN_OR_RETURN(const double elapsed, gpu_.ElapsedNs(events_[i].first, events_[i].second));
    times[i] = elapsed / graphs[i]->calls;
  }
  return times;
}

}  // namespace gemmsmith
