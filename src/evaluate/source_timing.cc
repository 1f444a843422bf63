// The timing half of a source's judgement: its batches in the guest, by the judge's clock, beside its rivals.
#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <thread>

#include "base/seconds.h"
#include "evaluate/contest.h"
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

Status SourceExchange::AskInTime(const GuestCall& call, double gap_seconds, SourceBatch& batch) {
  RETURN_IF_ERROR(workshop_.gpu.Synchronize());
  if (gap_seconds > 0) std::this_thread::sleep_for(std::chrono::duration<double>(gap_seconds));
  const auto start = SteadyClock::now();
  const std::optional<GuestAnswer> answer = Ask(call);
  batch.judge_ns = NsSince(start);
  RETURN_IF_ERROR(LookAtIdleSet());
  if (has_ended()) return IoError(outcome_->reason);
  batch.calls = int(call.calls * std::max(call.replays, 1u));
  batch.event_ns = call.work == GuestWork::kHostCall ? answer->stream_ns : answer->event_ns;
  if (!answer->is_uncapturable) return OkStatus();
  if (is_estimated_)
    End(OutcomeKind::kCheated, "honesty", "calls of gemm() can be captured into a graph at some times only");
  is_capturable_ = false;
  return Unavailable("not captured");
}

Result<SourceBatch> SourceExchange::RunBatch(std::string_view test, const GuestCall& call, double gap_seconds) {
  Announce(fmt::format("test {}", test));
  const Inputs& inputs = *bench_.normal;
  if (set().loaded != &inputs) RETURN_IF_ERROR(CopyIn(inputs));
  const bool is_disturbed = call.work == GuestWork::kDisturbedCalls;
  if (is_disturbed) {
    const std::vector<DisturbedStep> steps =
        DrawDisturbances(set().a.matrix.view(), set().b.matrix.view(), set().c.matrix.view(), int(call.calls), random_);
    RETURN_IF_ERROR(disturbances_.Prepare(steps, disturbance_memory_.address()));
  }
  SourceBatch batch;
  const Inputs placed = Placed(inputs);
  ASSIGN_OR_RETURN(const Watched watched,
                   verifier_.Watch(gemm_, PlaceOf(placed), 0, [&] { return AskInTime(call, gap_seconds, batch); }));
  if (!is_capturable_ && call.replays > 0) return batch;
  if (!Passes(test, watched) || !is_disturbed) return batch;
  RETURN_IF_ERROR(JudgeDisturbed(test, inputs));
  return batch;
}

// ---- renewals

DisturbedMatrices SourceExchange::Disturbed() const {
  return {set().a.matrix.data(), set().b.matrix.data(), set().c.matrix.data(), gemm_.shape};
}

Status SourceExchange::MakeContents() {
  Announce("contents");
  for (int i = 0; i < kOtherContents; ++i) {
    ASSIGN_OR_RETURN(Content content, MakeContent(uint32_t(random_.Next()) | 1));
    contents_.push_back(std::move(content));
  }
  return OkStatus();
}

Result<SourceExchange::Content> SourceExchange::MakeContent(uint32_t signs) {
  Content content;
  content.signs = signs;
  RETURN_IF_ERROR(CopyIn(*bench_.normal));
  const DisturbedStep step = RenewalTo(signs);
  RETURN_IF_ERROR(disturbances_.Prepare({&step, 1}, disturbance_memory_.address()));
  RETURN_IF_ERROR(disturbances_.kernels().Disturb(Disturbed(), disturbance_memory_.address()));
  sets_[present_set_].loaded = nullptr;
  ASSIGN_OR_RETURN(content.reference,
                   MakeReference(workshop_.gpu, workshop_.harness, gemm_, set().a.matrix, set().b.matrix));
  RETURN_IF_ERROR(workshop_.harness.ResetReport());
  RETURN_IF_ERROR(workshop_.harness.Inspect({.a = &set().a.matrix, .b = &set().b.matrix}));
  ASSIGN_OR_RETURN(const HarnessReport report, workshop_.harness.ReadReport());
  content.checksum_a = report.checksum_a;
  content.checksum_b = report.checksum_b;
  return content;
}

Inputs SourceExchange::PlacedContent(uint32_t signs) const {
  Inputs placed = Placed(*bench_.normal);
  for (const Content& content : contents_) {
    if (content.signs != signs) continue;
    placed.reference = &content.reference;
    placed.checksum_a = content.checksum_a;
    placed.checksum_b = content.checksum_b;
  }
  return placed;
}

Result<std::vector<DisturbedStep>> SourceExchange::PrepareRenewals() {
  RETURN_IF_ERROR(CopyIn(*bench_.normal));
  sets_[present_set_].loaded = nullptr;  // as soon as the first one has run
  std::vector<uint32_t> contents = {0};
  for (const Content& content : contents_) contents.push_back(content.signs);
  std::vector<DisturbedStep> steps = DrawRenewals(contents, random_);
  RETURN_IF_ERROR(disturbances_.Prepare(steps, disturbance_memory_.address()));
  return steps;
}

// Any call may be the last one, whose whole output is looked at: the source's host code has run once, for the one call
// of a graph that is replayed, and neither it nor the list of renewals knows how often.
Result<SourceBatch> SourceExchange::RunRenewedBatch(uint32_t calls) {
  constexpr std::string_view kTest = "renewed_batch";
  Announce(fmt::format("test {}", kTest));
  ASSIGN_OR_RETURN(const std::vector<DisturbedStep> steps, PrepareRenewals());
  const Inputs placed = PlacedContent(steps[calls - 1][0].signs);
  const GuestCall call =
      is_capturable_ ? CallFor(GuestWork::kRenewedCalls, 1, calls) : CallFor(GuestWork::kRenewedCalls, calls, 0);
  SourceBatch batch;
  ASSIGN_OR_RETURN(const Watched watched,
                   verifier_.Watch(gemm_, PlaceOf(placed), 0, [&] { return AskInTime(call, 0, batch); }));
  if (!has_ended() && watched.crash.empty() && !watched.wrong.empty())
    End(OutcomeKind::kCheated, "honesty", fmt::format("test {}: {}", kTest, watched.wrong));
  Passes(kTest, watched);
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
  // Not quite as many as a plan's batch has: nobody shall know which call is the last one.
  const double share = 0.75 + 0.25 * random_.Uniform();
  const int most = std::min(CallsIn(BatchFor(problem_.protocol), call_ns_), int(AtMost(1 << 10)));
  graph_calls_ = std::max(1, int(std::ceil(share * most)));
  is_estimated_ = true;
  return OkStatus();
}

// In batches of two lengths, in random order; the first batch only warms up.
Result<SourceTime> SourceExchange::TimeWork(GuestWork work, std::vector<SourceBatch>& batches) {
  constexpr double kLongNs = 20e6;
  constexpr int kMostCalls = 1 << 20;
  const bool is_renewed = work == GuestWork::kRenewedCalls;
  const int pairs = call_ns_ > kLongNs ? 2 : IsThorough(problem_.protocol) ? 7 : 4;
  const double difference_ns = IsThorough(problem_.protocol) ? 6e6 : 3e6;
  const int most = is_renewed ? kMaxDisturbedSteps : kMostCalls;
  const auto run = [&](int replays) -> Result<SourceBatch> {
    const auto calls = uint32_t(graph_calls_);
    // The source may know how many calls a graph of its has.
    if (is_renewed) return RunRenewedBatch(calls * uint32_t(replays) - uint32_t(random_.Below(calls)));
    return RunBatch("timed_batch", is_capturable_ ? CallFor(work, calls, uint32_t(replays))
                                                  : CallFor(work, calls * uint32_t(replays), 0));
  };
  RETURN_IF_ERROR(run(1).status());
  for (int i = 0; i < pairs && !has_ended(); ++i) {
    const BatchLengths lengths = DrawLengths(call_ns_, graph_calls_, difference_ns, most, random_.Uniform());
    std::array<int, 2> replays = {lengths.shorter, lengths.longer};
    random_.Shuffle(replays);
    for (const int count : replays) {
      if (has_ended()) break;
      ASSIGN_OR_RETURN(const SourceBatch batch, run(count));
      batches.push_back(batch);
    }
  }
  return has_ended() ? SourceTime{} : TimeOf(batches);
}

// Is the guest's clock right, and does it do the same work when nothing has changed? Whoever keeps anything of a call
// for the next one, wherever that is, has nothing of it behind a renewal.
Status SourceExchange::TimeAlone() {
  ChooseSet();
  RETURN_IF_ERROR(MakeContents());
  std::vector<SourceBatch> renewed;
  ASSIGN_OR_RETURN(time_, TimeWork(GuestWork::kCalls, batches_));
  if (has_ended()) return OkStatus();
  ASSIGN_OR_RETURN(const SourceTime changed, TimeWork(GuestWork::kRenewedCalls, renewed));
  if (has_ended()) return OkStatus();
  ASSIGN_OR_RETURN(const Changes changes, TimeChanges());
  const std::string other_work = DisagreementOfInputs(time_.ns(), changed.judge_ns - changes.ns, changes.honest_factor);
  if (!other_work.empty()) End(OutcomeKind::kCheated, "honesty", other_work);
  return OkStatus();
}

Result<SourceExchange::Changes> SourceExchange::TimeChanges() {
  constexpr double kLargestFactor = 2;
  const PutCall change = [&] { return disturbances_.kernels().Disturb(Disturbed(), disturbance_memory_.address()); };
  Changes changes;
  ASSIGN_OR_RETURN(changes.ns, TimeHere(change, 1));
  const auto rival = std::find_if(rivals_.begin(), rivals_.end(), [&](const Baseline* baseline) {
    return baseline->id.kind != BaselineKind::kSharedObject && baseline->id.layout == gemm_.kind.layout;
  });
  if (rival == rivals_.end()) return changes;
  const DisturbedMatrices matrices = Disturbed();
  ASSIGN_OR_RETURN(const PutCall call, (*rival)->bind({matrices.a, matrices.b, matrices.c}));
  ASSIGN_OR_RETURN(const double unchanged_ns, TimeHere(call, graph_calls_));
  const PutCall changed_call = [&]() -> Status {
    RETURN_IF_ERROR(change());
    return call();
  };
  ASSIGN_OR_RETURN(const double changed_ns, TimeHere(changed_call, 1));
  changes.honest_factor = std::clamp((changed_ns - changes.ns) / unchanged_ns, 1.0, kLargestFactor);
  return changes;
}

Result<double> SourceExchange::TimeHere(const PutCall& step, int graph_steps) {
  constexpr int kRows = 5;
  Announce("changes");
  Gpu& gpu = workshop_.gpu;
  ASSIGN_OR_RETURN(const EventPair events, EventPair::Make(gpu));
  PutCall put = step;
  CallGraph graph;
  if (is_capturable_) {
    ASSIGN_OR_RETURN(graph, CallGraph::Capture(gpu, {&step, 1}, graph_steps));
    put = [&] { return gpu.Replay(graph.at(0)); };
  }
  const int puts = is_capturable_ ? graph_calls_ / graph_steps : graph_calls_;
  std::vector<double> samples;
  for (int row = 0; row <= kRows; ++row) {
    RETURN_IF_ERROR(PrepareRenewals().status());
    RETURN_IF_ERROR(workshop_.harness.LeadIn());
    RETURN_IF_ERROR(gpu.Record(events.first));
    for (int i = 0; i < puts; ++i) RETURN_IF_ERROR(put());
    RETURN_IF_ERROR(gpu.Record(events.last));
    ASSIGN_OR_RETURN(const double elapsed, gpu.ElapsedNs(events.first, events.last));
    if (row > 0) samples.push_back(elapsed / graph_calls_);  // the first one warms up
  }
  return Median(samples);
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
  for (const Clock clock : {Clock::kOffline, Clock::kServer, Clock::kHost}) {
    if (problem_.clocks.Has(clock) && !has_ended()) RETURN_IF_ERROR(RunRace(clock));
  }
  return session_.DismissUntidyRivals(problem_, std::array{&timed_});
}

Status SourceExchange::RunRace(Clock clock) {
  const std::vector<Racer> rivals = RacersOf(rivals_, BatchFor(problem_.protocol));
  ASSIGN_OR_RETURN(const std::unique_ptr<RoundClock> rivals_clock, MakeRoundClock(workshop_, problem_, rivals, clock));
  std::vector<RaceEntry> entries = {{.name = "ours", .clock = clock, .candidate = 0}};
  for (const Racer& rival : rivals) entries.push_back({rival.name, clock, kRival, rival.is_decisive});
  ReadCondition read;
  if (workshop_.nvml != nullptr) read = [this] { return workshop_.nvml->Read(); };
  const TimeRound time_round = [&](std::span<const size_t> order) -> Result<std::vector<double>> {
    std::vector<double> times(entries.size());
    for (const size_t i : order) {
      if (i == 0) {
        ASSIGN_OR_RETURN(times[0], TimeOurs(clock));
        continue;
      }
      Announce(fmt::format("{} clock", Name(clock)));
      // A round of its own: ours comes between, from another process.
      const size_t rival = i - 1;
      ASSIGN_OR_RETURN(const std::vector<double> alone, rivals_clock->TimeRound({&rival, 1}, [](size_t) {}));
      times[i] = alone[rival];
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

// One call cannot take less than its share of many.
Result<double> SourceExchange::TimeOurs(Clock clock) {
  const bool is_device = clock == Clock::kDevice;
  GuestCall call = CallFor(GuestWork::kCalls, 1, 0);
  if (is_device) call = CallFor(GuestWork::kCalls, uint32_t(graph_calls_), is_capturable_ ? 1 : 0);
  if (clock == Clock::kHost) call.work = GuestWork::kHostCall;
  const double gap_seconds = clock == Clock::kServer ? gaps_.NextSeconds() : 0;
  ASSIGN_OR_RETURN(const SourceBatch batch, RunBatch(OutputTestOf(clock), call, gap_seconds));
  if (has_ended()) return Interrupted("the candidate has ended");
  if (!is_device) return std::max(batch.event_ns, time_.ns());
  batches_.push_back(batch);
  return batch.event_ns / batch.calls;
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
