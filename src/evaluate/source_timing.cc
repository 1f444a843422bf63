// The timing half of a source's judgement: its batches in the guest, by the judge's clock, beside its baselines.
#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <thread>

#include "base/seconds.h"
#include "evaluate/contest.h"
#include "evaluate/source_exchange.h"
#include "evaluate/time/call_clocks.h"

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
  RETURN_IF_ERROR(tools_.gpu.Synchronize());
  if (gap_seconds > 0) std::this_thread::sleep_for(std::chrono::duration<double>(gap_seconds));
  const auto start = SteadyClock::now();
  const std::optional<GuestAnswer> answer = Ask(call);
  batch.judge_ns = NsSince(start);
  RETURN_IF_ERROR(LookAtIdleSet());
  if (has_ended()) return IoError(outcome_->reason);
  batch.calls = int(call.calls * std::max(call.replays, 1u));
  batch.event_ns = call.work == GuestWork::kHostCall ? answer->stream_ns : answer->event_ns;
  return OkStatus();
}

Result<SourceBatch> SourceExchange::RunBatch(std::string_view test, GuestCall call, double gap_seconds) {
  Announce(fmt::format("test {}", test));
  const Inputs& inputs = *setup_.normal;
  RETURN_IF_ERROR(ClearIdleSet());
  if (set().loaded != &inputs) RETURN_IF_ERROR(CopyIn(inputs));
  const bool is_disturbed = call.work == GuestWork::kDisturbedCalls;
  if (is_disturbed) {
    call.key = DrawKey(random_);
    RETURN_IF_ERROR(PrepareDisturbances(call.calls, call.key));
  }
  SourceBatch batch;
  const Inputs guest_inputs = GuestInputs(inputs);
  ASSIGN_OR_RETURN(const Watched watched, verifier_.Watch(gemm_, CallBuffersOf(guest_inputs), 0,
                                                          [&] { return AskInTime(call, gap_seconds, batch); }));
  if (!Passes(test, watched)) return batch;
  if (batch.event_ns <= 0) {
    End(OutcomeKind::kCheated, "honesty", fmt::format("test {}: its events say that calls took no time", test));
    return batch;
  }
  if (!is_disturbed) return batch;
  RETURN_IF_ERROR(JudgeDisturbed(test, inputs, call.calls));
  return batch;
}

Status SourceExchange::PrepareDisturbances(uint32_t calls, const DisturbanceKey& key) {
  const std::vector<DisturbedStep> steps =
      DrawDisturbances(present_a().view(), present_b().view(), present_c().view(), int(calls), random_);
  return disturbances_.Prepare(steps, disturbance_memory_.address(), key);
}

// ---- renewals

Status SourceExchange::PrepareRenewals(size_t calls, const DisturbanceKey& key) {
  RETURN_IF_ERROR(CopyIn(*setup_.normal));
  sets_[present_set_].loaded = nullptr;  // as soon as the first one has run
  return disturbances_.Prepare(DrawRenewals(calls, present_c().view(), random_), disturbance_memory_.address(), key);
}

Result<SourceBatch> SourceExchange::RunCallByCall(std::string_view test, const GuestCall& call) {
  const Inputs guest_inputs = GuestInputs(*setup_.normal);
  SourceBatch batch;
  ASSIGN_OR_RETURN(const Watched watched,
                   verifier_.Watch(gemm_, CallBuffersOf(guest_inputs), 0, [&] { return AskInTime(call, 0, batch); }));
  if (!has_ended() && watched.crash.empty() && !watched.wrong.empty())
    End(OutcomeKind::kCheated, "honesty", fmt::format("test {}: {}", test, watched.wrong));
  Passes(test, watched);
  return batch;
}

// Any call may be the last one, whose whole output is looked at: the source's host code has run once, for the one call
// of a graph that is replayed, and neither it nor the list of renewals knows how often.
Result<SourceBatch> SourceExchange::RunRenewedBatch(GuestWork work, uint32_t calls, int twin) {
  const bool is_renewed = work == GuestWork::kRenewedCalls;
  const std::string_view test = is_renewed ? "renewed_batch" : "sham_batch";
  Announce(fmt::format("test {}", test));
  RETURN_IF_ERROR(ClearIdleSet());
  GuestCall call = CallFor(work, 1, calls, twin);
  call.key = DrawKey(random_);
  RETURN_IF_ERROR(PrepareRenewals(calls, call.key));
  ASSIGN_OR_RETURN(const SourceBatch batch, RunCallByCall(test, call));
  // Behind the last call nothing is set aside: its output is looked at as a whole.
  if (!has_ended() && is_renewed) RETURN_IF_ERROR(JudgeDisturbed(test, *setup_.normal, calls - 1));
  return batch;
}

// ---- pauses

Result<SourceBatch> SourceExchange::RunSpacedBatch(uint32_t calls, const Pause& pause, int twin) {
  Announce("test spaced_batch");
  RETURN_IF_ERROR(ClearIdleSet());
  if (set().loaded != setup_.normal) RETURN_IF_ERROR(CopyIn(*setup_.normal));
  GuestCall call = CallFor(GuestWork::kSpacedCalls, 1, calls, twin);
  call.pause_ns = pause.asked_ns;
  ASSIGN_OR_RETURN(SourceBatch batch, RunCallByCall("spaced_batch", call));
  batch.judge_ns -= calls * pause.ns;
  return batch;
}

Result<SourceExchange::Pause> SourceExchange::DrawPause() {
  Pause pause{DrawPauseNs(sham_step_ns_, random_.Uniform()), 0};
  ASSIGN_OR_RETURN(pause.ns, TimeBetweenCalls(100, [&] { return disturbances_.kernels().Pause(pause.asked_ns); }));
  return pause;
}

// ---- batches in alternation

Status SourceExchange::EstimateCall() {
  const uint32_t calls = AtMost(3);
  ASSIGN_OR_RETURN(const SourceBatch graph, RunBatch("estimate", CallFor(GuestWork::kFollowingCalls, calls, 1)));
  if (has_ended()) return OkStatus();
  call_ns_ = graph.event_ns / calls;
  // Not quite as many as a plan's batch has: nobody shall know which call is the last one.
  const double share = 0.75 + 0.25 * random_.Uniform();
  const int most = std::min(CallsIn(BatchFor(problem_.protocol), call_ns_), int(AtMost(1 << 10)));
  graph_calls_ = std::max(1, int(std::ceil(share * most)));
  return OkStatus();
}

int SourceExchange::Twins() const { return TwinsOf(BatchFor(problem_.protocol)); }

Result<SourceBatch> SourceExchange::RunTimedBatch(GuestWork work, const Length& length, const Pause& pause, int twin) {
  if (work == GuestWork::kSpacedCalls) return RunSpacedBatch(length.calls, pause, twin);
  if (work != GuestWork::kFollowingCalls) return RunRenewedBatch(work, length.calls, twin);
  const auto calls = uint32_t(graph_calls_), graphs = uint32_t(length.graphs);
  return RunBatch("timed_batch", CallFor(work, calls, graphs, twin));
}

// The first batch of a graph finds it captured and warms up.
Status SourceExchange::WarmUp(GuestWork work, int twin) {
  if (work != GuestWork::kFollowingCalls && !AskToCapture(CallFor(work, 1, 1, twin))) return OkStatus();
  // With a pause: none at all would tell this graph from those that write what is there already.
  Pause pause;
  if (work == GuestWork::kSpacedCalls) {
    ASSIGN_OR_RETURN(pause, DrawPause());
  }
  return RunTimedBatch(work, {1, uint32_t(graph_calls_)}, pause, twin).status();
}

// Longer ones of calls that are compared one batch with the other: who skips one call in twelve takes a dozen calls to
// be seen.
Result<SourceExchange::Round> SourceExchange::DrawRound() {
  constexpr int kMaxCalls = 1 << 20;
  const double difference_ns = IsThorough(problem_.protocol) ? 6e6 : 3e6;
  const BatchLengths graphs = DrawLengths(call_ns_, graph_calls_, difference_ns, kMaxCalls, random_.Uniform());
  const BatchLengths others =
      DrawLengths(call_ns_, graph_calls_, 2 * difference_ns, kMaxDisturbedSteps, random_.Uniform());
  // The source may know how many calls a graph of its has.
  const auto calls = uint32_t(graph_calls_), fewer = uint32_t(random_.Below(calls));
  ASSIGN_OR_RETURN(const Pause pause, DrawPause());
  return Round{{{{graphs.shorter, calls * uint32_t(others.shorter) - fewer},
                 {graphs.longer, calls * uint32_t(others.longer) - fewer}}},
               pause};
}

// Untimed, by every graph there will be.
Status SourceExchange::WarmUpAll(const TimedWorks& works) {
  std::vector<std::pair<GuestWork, int>> graphs;
  for (const TimedWork& timed : works)
    for (int twin = 0; twin < Twins(); ++twin) graphs.emplace_back(timed.work, twin);
  random_.Shuffle(graphs);  // by their order host code would know what each is captured for
  for (const auto& [work, twin] : graphs)
    if (!has_ended()) RETURN_IF_ERROR(WarmUp(work, twin));
  return OkStatus();
}

Status SourceExchange::TimeOneRound(std::span<TimedWork> works, int twin) {
  ASSIGN_OR_RETURN(const Round round, DrawRound());
  random_.Shuffle(works);
  for (TimedWork& timed : works) {
    std::array<SourceBatch, 2> batches;
    std::array<size_t, 2> order = {0, 1};
    random_.Shuffle(order);
    for (const size_t at : order) {
      if (has_ended()) return OkStatus();
      ASSIGN_OR_RETURN(batches[at], RunTimedBatch(timed.work, round.lengths[at], round.pause, twin));
    }
    timed.batches.insert(timed.batches.end(), batches.begin(), batches.end());
  }
  return OkStatus();
}

const std::vector<SourceBatch>& SourceExchange::BatchesOf(GuestWork work, const TimedWorks& works) {
  return std::find_if(works.begin(), works.end(), [&](const TimedWork& timed) { return timed.work == work; })->batches;
}

bool SourceExchange::AreFarApart(const TimedWorks& works) const {
  const std::vector<SourceBatch>& unchanged = BatchesOf(GuestWork::kFollowingCalls, works);
  return IsFarSlower(BatchesOf(GuestWork::kSpacedCalls, works), unchanged, 0) ||
         IsFarSlower(BatchesOf(GuestWork::kShamCalls, works), unchanged, sham_step_ns_);
}

std::string SourceExchange::DisagreementOf(const TimedWorks& works) {
  batches_ = BatchesOf(GuestWork::kFollowingCalls, works);
  const SourceTime unchanged = TimeOf(batches_);
  const SourceTime spaced = ProvenTimeOf(BatchesOf(GuestWork::kSpacedCalls, works));
  const std::span renewed = BatchesOf(GuestWork::kRenewedCalls, works), shams = BatchesOf(GuestWork::kShamCalls, works);
  const SourceTime sham = ProvenTimeOf(shams);
  std::string disagreement = DisagreementOfRenewals(renewed, shams, unchanged.judge_ns);
  if (disagreement.empty()) disagreement = DisagreementOfSpaces(unchanged, spaced);
  if (disagreement.empty()) disagreement = DisagreementOfShams(unchanged, sham, sham_step_ns_);
  least_ns_ = std::max(least_ns_, LeastBySpaces(spaced));
  if (!disagreement.empty())
    least_ns_ = std::max(
        {least_ns_, spaced.judge_ns, sham.judge_ns - sham_step_ns_, unchanged.judge_ns + ExcessOf(renewed, shams).ns});
  return disagreement;
}

// Does it do the same work when nothing has changed? Whoever keeps anything of a call for the next one, wherever that
// is, has nothing of it behind a renewal; behind a sham one, which takes as long and leaves the same lines in the same
// caches, he would have it. A batch is as long as unchanged calls say: of one who skips nearly all of them it is a
// hundred times as long where he computes. He took 40 to 54 s until nothing but all rounds of all looks was proof
// (H200, November 2026).
Result<SourceExchange::Look> SourceExchange::TimeEveryKind() {
  constexpr double kLongNs = 20e6;
  constexpr int kRoundsForTheObvious = 2;
  const int rounds = call_ns_ > kLongNs ? 2 : IsThorough(problem_.protocol) ? 7 : 4;
  ASSIGN_OR_RETURN(sham_step_ns_, TimeShamStep());
  TimedWorks works = {{{GuestWork::kFollowingCalls, {}},
                       {GuestWork::kSpacedCalls, {}},
                       {GuestWork::kShamCalls, {}},
                       {GuestWork::kRenewedCalls, {}}}};
  RETURN_IF_ERROR(WarmUpAll(works));
  for (int round = 0; round < rounds && !has_ended(); ++round) {
    RETURN_IF_ERROR(TimeOneRound(works, round % Twins()));
    if (has_ended() || round + 1 != kRoundsForTheObvious || !AreFarApart(works)) continue;
    if (const std::string disagreement = DisagreementOf(works); !disagreement.empty()) return Look{disagreement, true};
  }
  return has_ended() ? Look() : Look{DisagreementOf(works), false};
}

// A cheat differs in every look. An honest kernel whose work falls to whoever comes first (tiles by tickets, more CTAs
// than tiles) takes 250 us by one graph and 290 by another, and differed in a quarter of the looks (H200, November
// 2026); so it is looked at again, in the other buffers and by graphs of their own. A source gains nothing by that: the
// published time is at least the longest of a look that differed.
Status SourceExchange::TimeAlone() {
  constexpr int kLooks = 4, kLooksForTheObvious = 2;
  ChooseSet();
  Look last;
  for (int look = 0, obvious = 0; look < kLooks && obvious < kLooksForTheObvious; ++look) {
    if (look > 0) {
      ChangeSet();
      first_twin_ += Twins();
    }
    ASSIGN_OR_RETURN(last, TimeEveryKind());
    if (last.disagreement.empty()) return OkStatus();
    if (last.is_obvious) ++obvious;
  }
  End(OutcomeKind::kCheated, "honesty", last.disagreement);
  return OkStatus();
}

Result<double> SourceExchange::TimeShamStep() {
  const DisturbanceKey key = DrawKey(random_);
  RETURN_IF_ERROR(PrepareRenewals(kMaxDisturbedSteps, key));
  const DisturbedMatrices matrices = {present_a().data(), present_b().data(), present_c().data(), gemm_.shape, true};
  return TimeBetweenCalls(
      20, [&] { return disturbances_.kernels().Disturb(matrices, disturbance_memory_.address(), key); });
}

Result<double> SourceExchange::TimeBetweenCalls(int count, const PutCall& put) {
  constexpr int kRows = 5;
  Announce("what lies between calls");
  Gpu& gpu = tools_.gpu;
  ASSIGN_OR_RETURN(const EventPair events, EventPair::Make(gpu));
  ASSIGN_OR_RETURN(const CallGraph graph, CallGraph::Capture(gpu, {&put, 1}, 1));
  std::vector<double> samples;
  for (int row = 0; row <= kRows; ++row) {
    RETURN_IF_ERROR(tools_.harness.LeadIn());
    RETURN_IF_ERROR(gpu.Record(events.first));
    for (int i = 0; i < count; ++i) RETURN_IF_ERROR(gpu.Replay(graph.at(0)));
    RETURN_IF_ERROR(gpu.Record(events.last));
    ASSIGN_OR_RETURN(const double elapsed, gpu.ElapsedNs(events.first, events.last));
    if (row > 0) samples.push_back(elapsed / count);  // the first one warms up
  }
  return Median(samples);
}

// On a busy host the judge's clock alone said 8 % too much of an honest source, by the slopes of four rounds (H200,
// November 2026): further rounds, and nothing but these, tell noise from a lie. A source that recognizes them gains
// nothing. The published time, which the race must agree with, stays that of the earlier rounds.
Result<std::string> SourceExchange::DisagreementInFurtherRounds() {
  constexpr int kFurtherRounds = 12;
  TimedWork following = {GuestWork::kFollowingCalls, {}};
  for (int round = 0; round < kFurtherRounds && !has_ended(); ++round)
    RETURN_IF_ERROR(TimeOneRound({&following, 1}, round % Twins()));
  return has_ended() ? "" : DisagreementOfClocks(TimeOf(following.batches));
}

Status SourceExchange::TimeAgainstBaselines() {
  const size_t alone = batches_.size();
  RETURN_IF_ERROR(RunRace(Clock::kDevice));
  if (has_ended()) return OkStatus();
  // Over all batches, with those of the race.
  const SourceTime time = TimeOf(batches_);
  const std::span raced = std::span(batches_).subspan(alone);
  published_ns_ = std::max({time.judge_ns, EventNsOf(raced), least_ns_});
  std::string lie = DisagreementOfClocks(time);
  if (!lie.empty()) {
    ASSIGN_OR_RETURN(lie, DisagreementInFurtherRounds());
  }
  if (has_ended()) return OkStatus();
  if (lie.empty()) lie = DisagreementOfRace(time, raced);
  const std::string impossible = Impossible(gemm_, tools_.gpu.identity().device, published_ns_);
  if (!lie.empty() || !impossible.empty()) {
    End(OutcomeKind::kCheated, "honesty", lie.empty() ? impossible : lie);
    return OkStatus();
  }
  for (const Clock clock : kCallClocks) {
    if (problem_.clocks.Has(clock) && !has_ended()) RETURN_IF_ERROR(RunRace(clock));
  }
  return session_.WithdrawUntidyBaselines(problem_, std::array{&timed_});
}

Status SourceExchange::RunRace(Clock clock) {
  const std::vector<TimedCall> baselines = TimedCallsOf(baselines_, BatchFor(problem_.protocol));
  ASSIGN_OR_RETURN(const std::unique_ptr<RoundClock> baselines_clock,
                   MakeRoundClock(tools_, problem_, baselines, clock));
  std::vector<RaceEntry> entries = {{.name = "ours", .clock = clock, .candidate = 0}};
  for (const TimedCall& baseline : baselines)
    entries.push_back({baseline.name, clock, kNoCandidate, baseline.is_decisive});
  ReadCondition read;
  if (tools_.nvml != nullptr) read = [this] { return tools_.nvml->Read(); };
  const TimeRound time_round = [&](std::span<const size_t> order) -> Result<std::vector<double>> {
    std::vector<double> times(entries.size());
    for (const size_t i : order) {
      if (i == 0) {
        ASSIGN_OR_RETURN(times[0], TimeOurs(clock));
        continue;
      }
      Announce(fmt::format("{} clock", Name(clock)));
      // A round of its own: ours comes between, from another process.
      const size_t baseline = i - 1;
      ASSIGN_OR_RETURN(const std::vector<double> alone, baselines_clock->TimeRound({&baseline, 1}, [](size_t) {}));
      times[i] = alone[baseline];
    }
    return times;
  };
  const Result<RaceResult> race = Race(entries, RulesFor(problem_.protocol, clock), random_, read, time_round);
  tools_.last_race = SteadyClock::now();
  if (has_ended()) return OkStatus();
  if (!race.ok()) return race.status();
  AddTimings(clock, *race);
  return OkStatus();
}

// One call cannot take less than its share of many.
Result<double> SourceExchange::TimeOurs(Clock clock) {
  const bool is_device = clock == Clock::kDevice;
  GuestCall call = CallFor(GuestWork::kCalls, 1, 0);
  if (is_device) call = CallFor(GuestWork::kFollowingCalls, uint32_t(graph_calls_), 1, raced_batches_++ % Twins());
  if (clock == Clock::kOffline) {
    call.work = GuestWork::kFollowingCalls;
    const int before = CallsBefore(gemm_.shape, tools_.gpu.identity().l2_bytes);
    // AtMost(before) would be two at least.
    call.calls_before = std::min(uint32_t(before), AtMost(1 << 10));
  }
  if (clock == Clock::kHost) call.work = GuestWork::kHostCall;
  const double gap_seconds = clock == Clock::kServer ? gaps_.NextSeconds() : 0;
  ASSIGN_OR_RETURN(const SourceBatch batch, RunBatch(OutputTestOf(clock), call, gap_seconds));
  if (has_ended()) return Interrupted("the candidate has ended");
  if (!is_device) return std::max(batch.event_ns, published_ns_);
  batches_.push_back(batch);
  return batch.event_ns / batch.calls;
}

// Ours by the larger of the two clocks: the samples are the guest's, raised where the judge's clock, or that of calls
// with pauses between them, says more than these samples do, whatever its events said in other batches.
void SourceExchange::AddTimings(Clock clock, const RaceResult& race) {
  timed_.conditions.Add(race.conditions);
  const double proven_ns = std::max(TimeOf(batches_).judge_ns, least_ns_), raced_ns = race.timings[0].median_ns;
  const double factor = clock == Clock::kDevice && raced_ns > 0 ? std::max(proven_ns / raced_ns, 1.0) : 1;
  const size_t first = timed_.timings.size();
  timed_.timings.insert(timed_.timings.end(), race.timings.begin(), race.timings.end());
  Scale(timed_.timings[first], factor);
  for (Comparison comparison : race.comparisons[0]) {
    Scale(comparison.ratio, 1 / factor);
    timed_.comparisons.push_back(std::move(comparison));
  }
}

}  // namespace gemmsmith
