// The timing half of a source's judgement: its batches in the guest, by the judge's clock, beside its rivals.
#include <array>
#include <chrono>

#include "base/seconds.h"
#include "evaluate/source_exchange.h"

namespace gemmsmith {

namespace {

using SteadyClock = std::chrono::steady_clock;

void Scale(Timing& timing, double factor) {
  timing.median_ns *= factor;
  timing.mean_ns *= factor;
  timing.interval = {timing.interval.low * factor, timing.interval.high * factor};
  for (float& sample : timing.samples_ns) sample *= float(factor);
}

void Scale(RatioEstimate& ratio, double factor) {
  ratio.median *= factor;
  ratio.mean *= factor;
  ratio.interval = {ratio.interval.low * factor, ratio.interval.high * factor};
}

}  // namespace

Result<SourceBatch> SourceExchange::RunBatch(std::string_view test, const GuestCall& call) {
  Announce(fmt::format("test {}", test));
  const Inputs& inputs = *bench_.normal;
  if (set().loaded != &inputs) RETURN_IF_ERROR(CopyIn(inputs));
  SourceBatch batch;
  batch.calls = int(call.calls * std::max(call.replays, 1u));
  if (call.work != GuestWork::kCalls) {
    const std::vector<DisturbedStep> steps =
        DrawDisturbances(set().a.matrix.view(), set().b.matrix.view(), set().c.matrix.view(), batch.calls, random_);
    RETURN_IF_ERROR(disturbances_.Prepare(steps, disturbance_memory_.address()));
  }
  const auto ask = [&]() -> Status {
    RETURN_IF_ERROR(workshop_.gpu.Synchronize());
    const auto start = SteadyClock::now();
    const std::optional<GuestAnswer> answer = Ask(call);
    batch.judge_ns = NsSince(start);
    RETURN_IF_ERROR(LookAtIdleSet());
    if (has_ended()) return IoError(outcome_->reason);
    batch.event_ns = answer->event_ns;
    if (!answer->is_uncapturable) return OkStatus();
    if (is_estimated_)
      End(OutcomeKind::kCheated, "honesty", "calls of gemm() can be captured into a graph at some times only");
    is_capturable_ = false;
    return Unavailable("not captured");
  };
  if (call.work == GuestWork::kDisturbances) {
    const Status asked = ask();
    return asked.ok() || has_ended() ? Result<SourceBatch>(batch) : Result<SourceBatch>(asked);
  }
  const Inputs placed = Placed(inputs);
  ASSIGN_OR_RETURN(const Watched watched, verifier_.Watch(gemm_, PlaceOf(placed), 0, ask));
  if (!is_capturable_ && call.replays > 0) return batch;
  if (!Passes(test, watched) || call.work == GuestWork::kCalls) return batch;
  const bool is_timed = call.replays > 0;
  RETURN_IF_ERROR(JudgeDisturbed(test, inputs, is_timed ? OutcomeKind::kCheated : OutcomeKind::kWrong));
  return batch;
}

// A first graph tells whether calls can be captured; where they cannot, batches are plain launches.
Status SourceExchange::EstimateCall() {
  const uint32_t calls = AtMost(3);
  ASSIGN_OR_RETURN(const SourceBatch plain, RunBatch("estimate", CallFor(GuestWork::kCalls, calls, 0)));
  if (has_ended()) return OkStatus();
  call_ns_ = plain.event_ns / calls;
  ASSIGN_OR_RETURN(const SourceBatch graph, RunBatch("capture", CallFor(GuestWork::kCalls, calls, 1)));
  if (has_ended()) return OkStatus();
  if (is_capturable_) call_ns_ = graph.event_ns / calls;
  graph_calls_ = std::min(CallsIn(BatchFor(problem_.protocol), call_ns_), int(AtMost(1 << 10)));
  is_estimated_ = true;
  return OkStatus();
}

// In batches of two lengths, in random order; the first batch only warms up.
Result<SourceTime> SourceExchange::TimeWork(GuestWork work, std::vector<SourceBatch>& batches) {
  constexpr double kLongNs = 20e6;
  constexpr int kMostCalls = 1 << 20;
  const bool is_disturbed = work != GuestWork::kCalls;
  const int pairs = call_ns_ > kLongNs ? 2 : IsThorough(problem_.protocol) ? 7 : 4;
  const double difference_ns = IsThorough(problem_.protocol) ? 6e6 : 3e6;
  const int most = is_disturbed ? kMaxDisturbedSteps : kMostCalls;
  const auto batch_of = [&](int replays) {
    const auto calls = uint32_t(graph_calls_);
    return is_capturable_ ? CallFor(work, calls, uint32_t(replays)) : CallFor(work, calls * uint32_t(replays), 0);
  };
  const std::string test = is_disturbed ? "disturbed_batch" : "timed_batch";
  RETURN_IF_ERROR(RunBatch(test, batch_of(1)).status());
  for (int i = 0; i < pairs && !has_ended(); ++i) {
    const BatchLengths lengths = DrawLengths(call_ns_, graph_calls_, difference_ns, most, random_.Uniform());
    std::array<int, 2> replays = {lengths.shorter, lengths.longer};
    random_.Shuffle(replays);
    for (const int count : replays) {
      if (has_ended()) break;
      ASSIGN_OR_RETURN(const SourceBatch batch, RunBatch(test, batch_of(count)));
      batches.push_back(batch);
    }
  }
  return has_ended() ? SourceTime{} : TimeOf(batches);
}

// Is the guest's clock right, and does it do the same work when nothing has changed?
Status SourceExchange::TimeAlone() {
  ChooseSet();
  std::vector<SourceBatch> disturbed, disturbances;
  ASSIGN_OR_RETURN(time_, TimeWork(GuestWork::kCalls, batches_));
  if (has_ended()) return OkStatus();
  ASSIGN_OR_RETURN(const SourceTime changed, TimeWork(GuestWork::kDisturbedCalls, disturbed));
  if (has_ended()) return OkStatus();
  ASSIGN_OR_RETURN(const SourceTime changes, TimeWork(GuestWork::kDisturbances, disturbances));
  if (has_ended()) return OkStatus();
  const std::string other_work = DisagreementOfInputs(time_.ns(), changed.judge_ns - changes.judge_ns);
  if (!other_work.empty()) End(OutcomeKind::kCheated, "honesty", other_work);
  return OkStatus();
}

Status SourceExchange::TimeAgainstRivals() {
  RETURN_IF_ERROR(RunRace(Clock::kDevice));
  if (has_ended()) return OkStatus();
  // Of all batches, those of the race among them.
  time_ = TimeOf(batches_);
  const std::string lie = DisagreementOfClocks(time_);
  const std::string impossible = Impossible(gemm_, workshop_.gpu.identity().device, time_.ns());
  if (!lie.empty() || !impossible.empty()) {
    End(OutcomeKind::kCheated, "honesty", lie.empty() ? impossible : lie);
    return OkStatus();
  }
  if (problem_.clocks.Has(Clock::kOffline)) RETURN_IF_ERROR(RunRace(Clock::kOffline));
  return session_.DismissUntidyRivals(problem_, std::array{&timed_});
}

Status SourceExchange::RunRace(Clock clock) {
  std::vector<RaceEntry> entries = {{.name = "ours", .clock = clock, .candidate = 0}};
  for (const Baseline* rival : rivals_)
    entries.push_back({Name(rival->id), clock, kRival, rival->id.kind == BaselineKind::kLtAuto});
  ReadCondition read;
  if (workshop_.nvml != nullptr) read = [this] { return workshop_.nvml->Read(); };
  const TimeRound time_round = [&](std::span<const size_t> order) -> Result<std::vector<double>> {
    std::vector<double> times(entries.size());
    for (const size_t i : order) {
      ASSIGN_OR_RETURN(times[i], i == 0 ? TimeOurs(clock) : TimeRival(*rivals_[i - 1], clock));
    }
    return times;
  };
  const Result<RaceResult> race = Race(entries, RulesFor(problem_.protocol, clock), random_, read, time_round);
  workshop_.last_race = SteadyClock::now();
  if (has_ended()) return OkStatus();
  if (!race.ok()) return race.status();
  AddTimings(clock, *race);
  return OkStatus();
}

Result<double> SourceExchange::TimeOurs(Clock clock) {
  const bool is_single = clock == Clock::kOffline || !is_capturable_;
  const uint32_t calls = clock == Clock::kOffline ? 1 : uint32_t(graph_calls_);
  ASSIGN_OR_RETURN(const SourceBatch batch, RunBatch(clock == Clock::kOffline ? "offline_output" : "timed_output",
                                                     CallFor(GuestWork::kCalls, calls, is_single ? 0 : 1)));
  if (has_ended()) return Interrupted("the candidate has ended");
  if (clock == Clock::kDevice) batches_.push_back(batch);
  // One call cannot take less than its share of many.
  return clock == Clock::kOffline ? std::max(batch.event_ns, time_.ns()) : batch.event_ns / batch.calls;
}

Result<double> SourceExchange::TimeRival(const Baseline& rival, Clock clock) {
  Announce(fmt::format("{} clock", Name(clock)));
  Gpu& gpu = workshop_.gpu;
  ASSIGN_OR_RETURN(const Event first, gpu.MakeEvent());
  ASSIGN_OR_RETURN(const Event last, gpu.MakeEvent());
  const bool is_single = clock == Clock::kOffline;
  const CallGraph& graph = rival.graphs.at({Clock::kDevice, BatchFor(problem_.protocol)});
  if (!is_single) {
    RETURN_IF_ERROR(workshop_.harness.LeadIn());
    RETURN_IF_ERROR(gpu.Replay(graph.graph));  // untimed, as the guest's
  }
  RETURN_IF_ERROR(gpu.Record(first));
  RETURN_IF_ERROR(is_single ? rival.call() : gpu.Replay(graph.graph));
  RETURN_IF_ERROR(gpu.Record(last));
  ASSIGN_OR_RETURN(const double elapsed, gpu.ElapsedNs(first, last));
  return is_single ? elapsed : elapsed / graph.calls;
}

// Ours by the larger of the two clocks: the samples are the guest's, raised where the judge's clock says more.
void SourceExchange::AddTimings(Clock clock, const RaceResult& race) {
  timed_.conditions.Add(race.conditions);
  const SourceTime time = TimeOf(batches_);
  const double factor = clock == Clock::kDevice && time.event_ns > 0 ? time.ns() / time.event_ns : 1;
  const size_t first = timed_.timings.size();
  timed_.timings.insert(timed_.timings.end(), race.timings.begin(), race.timings.end());
  Scale(timed_.timings[first], factor);
  for (Comparison comparison : race.comparisons[0]) {
    Scale(comparison.ratio, 1 / factor);
    timed_.comparisons.push_back(std::move(comparison));
  }
}

}  // namespace gemmsmith
