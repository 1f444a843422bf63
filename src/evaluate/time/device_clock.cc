#include "evaluate/time/device_clock.h"

#include <algorithm>
#include <cmath>

namespace gemmsmith {

namespace {

struct BatchRule {
  double ns;
  int min_calls, max_calls, twins;
};

// One and the same call in two graphs was 1.2 % off through a whole race (2.5 us a call, H200, November 2026). In case
// that is where a graph lies in memory, twins turn it into scatter, which medians are rid of; docs/lab/judge.md says
// how little is known of it.
BatchRule RuleFor(Batch batch) {
  return batch == Batch::kBrief ? BatchRule{0.15e6, 1, 100, 1} : BatchRule{0.6e6, 3, 200, 5};
}

}  // namespace

// So many that even a brief batch dwarfs the start of its graph.
int CallsIn(Batch batch, double call_ns) {
  const BatchRule rule = RuleFor(batch);
  return int(std::clamp(std::ceil(rule.ns / std::max(call_ns, 1.0)), double(rule.min_calls), double(rule.max_calls)));
}

int TwinsOf(Batch batch) { return RuleFor(batch).twins; }

Result<CallGraph> CallGraph::Capture(Gpu& gpu, std::span<const PutCall> calls, int count, int twins) {
  CallGraph all;
  all.calls = count;
  for (int twin = 0; twin < twins; ++twin) {
    ASSIGN_OR_RETURN(Graph graph, gpu.Capture([&]() -> Status {
      for (int i = 0; i < count; ++i) RETURN_IF_ERROR(calls[size_t(i) % calls.size()]());
      return OkStatus();
    }));
    all.twins.push_back(std::move(graph));
  }
  return all;
}

Result<double> EstimateNs(Gpu& gpu, const PutCall& put_lead_in, const PutCall& call) {
  constexpr int kCalls = 3;
  ASSIGN_OR_RETURN(const EventPair events, EventPair::Make(gpu));
  RETURN_IF_ERROR(put_lead_in());
  RETURN_IF_ERROR(call());
  RETURN_IF_ERROR(gpu.Record(events.first));
  for (int i = 0; i < kCalls; ++i) RETURN_IF_ERROR(call());
  RETURN_IF_ERROR(gpu.Record(events.last));
  ASSIGN_OR_RETURN(const double elapsed, gpu.ElapsedNs(events.first, events.last));
  return elapsed / kCalls;
}

Visit VisitFor(const CallGraph& graph, double call_ns, const std::optional<Window>& window) {
  if (!window) return {&graph};
  const double graph_ns = std::max(call_ns, 1.0) * graph.calls;
  return {&graph, int(std::ceil(window->untimed_ns / graph_ns)), int(std::ceil(window->timed_ns / graph_ns))};
}

Result<std::unique_ptr<RoundClock>> DeviceClock::Create(Gpu& gpu, std::vector<Visit> visits, PutCall put_lead_in) {
  std::unique_ptr<DeviceClock> clock(new DeviceClock(gpu, std::move(visits), std::move(put_lead_in)));
  ASSIGN_OR_RETURN(clock->events_, EventPair::MakeSeveral(gpu, clock->visits_.size()));
  return std::unique_ptr<RoundClock>(std::move(clock));
}

Status DeviceClock::PutVisit(size_t entry) {
  const Visit& visit = visits_[entry];
  for (int i = 0; i < visit.untimed_replays; ++i) RETURN_IF_ERROR(gpu_.Replay(GraphOf(entry)));
  RETURN_IF_ERROR(gpu_.Record(events_[entry].first));
  for (int i = 0; i < visit.timed_replays; ++i) RETURN_IF_ERROR(gpu_.Replay(GraphOf(entry)));
  return gpu_.Record(events_[entry].last);
}

Result<std::vector<double>> DeviceClock::TimeRound(std::span<const size_t> order, const WaitListener& on_wait) {
  RETURN_IF_ERROR(put_lead_in_());
  // After the pause between two rounds the GPU runs faster for a while. A product against itself was 2.7 % off where it
  // came first (46 to 250 us a call, H200, November 2026). So a round's first batch is not timed.
  if (!order.empty() && visits_[order[0]].untimed_replays == 0) RETURN_IF_ERROR(gpu_.Replay(GraphOf(order[0])));
  for (size_t i : order) RETURN_IF_ERROR(PutVisit(i));
  std::vector<double> times(visits_.size());
  for (size_t i : order) {
    on_wait(i);
    ASSIGN_OR_RETURN(const double elapsed, gpu_.ElapsedNs(events_[i].first, events_[i].last));
    times[i] = elapsed / (double(visits_[i].graph->calls) * visits_[i].timed_replays);
  }
  ++round_;
  return times;
}

}  // namespace gemmsmith
