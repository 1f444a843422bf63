#include "evaluate/source_exchange.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <random>
#include <system_error>

#include "base/descriptors.h"
#include "base/text.h"

namespace gemmsmith {

namespace {

using SteadyClock = std::chrono::steady_clock;

constexpr size_t kSets = 2;
constexpr double kStartSeconds = 60, kLoadSeconds = 8, kCallSeconds = 8;
constexpr uint64_t kSpareBytes = uint64_t{1} << 30;  // of the guest's context and of what it loads
constexpr uint32_t kChangedCalls = 12, kSecondSeedCalls = 16;

double NsSince(SteadyClock::time_point start) {
  return std::chrono::duration<double, std::nano>(SteadyClock::now() - start).count();
}

std::string_view StageOf(OutcomeKind kind) {
  switch (kind) {
    case OutcomeKind::kWrong:
      return "correctness";
    case OutcomeKind::kCheated:
      return "honesty";
    default:
      return "launch";
  }
}

// A file in memory that can be read and executed, and no longer written.
class ObjectFile {
 public:
  static Result<ObjectFile> Create(std::span<const uint8_t> bytes) {
    ObjectFile file;
    file.fd_ = ::memfd_create("candidate", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    if (file.fd_ < 0 || !WriteAll(file.fd_, text) || ::fchmod(file.fd_, 0555) != 0 ||
        ::fcntl(file.fd_, F_ADD_SEALS, F_SEAL_WRITE | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0)
      return IoError(fmt::format("no file in memory for an object: {}", std::generic_category().message(errno)));
    return file;
  }
  ObjectFile(ObjectFile&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  ObjectFile& operator=(ObjectFile&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  ~ObjectFile() {
    if (fd_ >= 0) ::close(fd_);
  }
  int descriptor() const { return fd_; }

 private:
  ObjectFile() = default;
  int fd_ = -1;
};

SharedBuffer Described(const SharedMemory& memory, uint64_t data_at) {
  return {memory.descriptor(), memory.size_bytes(), data_at};
}

constexpr uint64_t kElementsAt = uint64_t(kGuardElements) * 2;

Shape HalfOf(const Shape& shape) {
  return {std::max(1, shape.m / 2), std::max(1, shape.n / 2), std::max(1, shape.k / 2)};
}

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

SourceExchange::SourceExchange(const Workshop& workshop, DisturbanceJudge& disturbances, ProblemSession& session,
                               const ProblemMessage& problem, const CandidateMessage& candidate,
                               const StepListener& on_step)
    : workshop_(workshop),
      disturbances_(disturbances),
      session_(session),
      problem_(problem),
      candidate_(candidate),
      on_step_(on_step),
      bench_(session.BenchFor(problem, on_step)),
      gemm_(bench_.gemm),
      verifier_(workshop.gpu, workshop.harness),
      // What is drawn here must not follow from the problem's seed, which a source may know.
      random_(uint64_t(std::random_device()()) << 32 | std::random_device()()) {
  if (problem.time) rivals_ = session.RivalsFor(problem);
  timed_.protocol = problem.protocol;
  if (problem.time) timed_.baseline_algorithms = session.BaselineAlgorithms(problem);
}

SourceExchange::~SourceExchange() { guest_.reset(); }

Result<Judgements> SourceExchange::Run() {
  using Stage = Status (SourceExchange::*)();
  std::vector<Stage> stages = {&SourceExchange::Share,          &SourceExchange::OpenGuest,
                               &SourceExchange::TestAsPlans,    &SourceExchange::TestChangedInputs,
                               &SourceExchange::TestSecondSeed, &SourceExchange::TestAfterAnotherShape,
                               &SourceExchange::LookAtBehaviour};
  if (problem_.time)
    stages.insert(stages.end(),
                  {&SourceExchange::EstimateCall, &SourceExchange::TimeAlone, &SourceExchange::TimeAgainstRivals});
  for (const Stage stage : stages) {
    if (has_ended()) break;
    RETURN_IF_ERROR((this->*stage)());
  }
  End(problem_.time ? OutcomeKind::kMeasured : OutcomeKind::kVerified, "", "");
  Judgements judgements;
  judgements.outcomes = {std::move(outcome_)};
  return judgements;
}

void SourceExchange::Announce(std::string_view step) { on_step_({std::string(step), 0}); }

void SourceExchange::End(OutcomeKind kind, std::string_view stage, std::string reason) {
  if (has_ended()) return;
  outcome_ = timed_;
  if (kind != OutcomeKind::kMeasured) outcome_->timings.clear(), outcome_->comparisons.clear();
  outcome_->kind = kind;
  outcome_->stage = stage;
  outcome_->reason = std::move(reason);
  outcome_->verdict = tested_.verdict;
  if (guest_) outcome_->observer = guest_->observer();
  for (const auto& [name, launches] : launches_)
    outcome_->kernels.push_back({name, launches / double(std::max<uint64_t>(observed_calls_, 1))});
}

// ---- the guest

Result<SourceExchange::SharedMatrix> SourceExchange::ShareMatrix(const Operand& operand, bool lines_are_rows) {
  SharedMatrix shared;
  ASSIGN_OR_RETURN(shared.memory, SharedMemory::Create(workshop_.gpu, GuardedMatrix::AllocationBytes(operand)));
  ASSIGN_OR_RETURN(shared.matrix, GuardedMatrix::Over(workshop_.gpu, shared.memory.address(), operand, lines_are_rows));
  return shared;
}

Status SourceExchange::Share() {
  Announce("share");
  Gpu& gpu = workshop_.gpu;
  const Task task = MakeTask(gemm_);
  const uint64_t set_bytes = GuardedMatrix::AllocationBytes(task.inputs[0]) +
                             GuardedMatrix::AllocationBytes(task.inputs[1]) +
                             GuardedMatrix::AllocationBytes(task.output);
  const uint64_t workspace_bytes = GuardedWorkspace::AllocationBytes(kBaselineWorkspaceBytes);
  if (const uint64_t needed = kSets * set_bytes + workspace_bytes + kSpareBytes; gpu.FreeBytes() < needed)
    workshop_.workspaces.Clear();
  for (size_t i = 0; i < kSets; ++i) {
    Set& set = sets_.emplace_back();
    ASSIGN_OR_RETURN(set.a, ShareMatrix(task.inputs[0], gemm_.kind.layout.a == Order::kRow));
    ASSIGN_OR_RETURN(set.b, ShareMatrix(task.inputs[1], gemm_.kind.layout.b == Order::kRow));
    ASSIGN_OR_RETURN(set.c, ShareMatrix(task.output, true));
  }
  ASSIGN_OR_RETURN(workspace_memory_, SharedMemory::Create(gpu, workspace_bytes));
  ASSIGN_OR_RETURN(workspace_, GuardedWorkspace::Over(gpu, workspace_memory_.address(), kBaselineWorkspaceBytes));
  ASSIGN_OR_RETURN(disturbance_memory_, SharedMemory::Create(gpu, DisturbanceMemory::kBytes));
  return gpu.Synchronize();
}

Status SourceExchange::OpenGuest() {
  Announce("guest");
  ASSIGN_OR_RETURN(GuestSetup setup, LibrariesForGuest());
  ASSIGN_OR_RETURN(const ObjectFile object, ObjectFile::Create(candidate_.object));
  setup.kernels = disturbances_.cubin();
  setup.object_descriptor = object.descriptor();
  for (const Set& set : sets_)
    setup.sets.push_back({Described(set.a.memory, kElementsAt), Described(set.b.memory, kElementsAt),
                          Described(set.c.memory, kElementsAt)});
  setup.workspace = Described(workspace_memory_, kElementsAt);
  setup.workspace_bytes = kBaselineWorkspaceBytes;
  setup.disturbances = Described(disturbance_memory_, 0);
  ASSIGN_OR_RETURN(const std::vector<std::string> command, SandboxedGuest(workshop_.gpu.identity().uuid));
  ASSIGN_OR_RETURN(GuestProcess guest, GuestProcess::Start(command, setup, kStartSeconds));
  guest_.emplace(std::move(guest));
  Announce("load");
  (void)Ask({.work = GuestWork::kLoad});
  return OkStatus();
}

std::optional<GuestAnswer> SourceExchange::AskLeniently(const GuestCall& call) {
  std::optional<GuestAnswer> answer = guest_->Call(call, call.work == GuestWork::kLoad ? kLoadSeconds : kCallSeconds);
  if (!answer) {
    End(guest_->end().kind, StageOf(guest_->end().kind), guest_->end().reason);
    return std::nullopt;
  }
  if (!answer->misdeeds.empty())
    End(OutcomeKind::kCheated, "honesty",
        fmt::format("gemm() asks for what it may not have: {}", Join(answer->misdeeds, ", ")));
  if (answer->is_lost) End(OutcomeKind::kLaunchFailed, "launch", answer->failure);
  return has_ended() ? std::nullopt : std::move(answer);
}

std::optional<GuestAnswer> SourceExchange::Ask(const GuestCall& call) {
  std::optional<GuestAnswer> answer = AskLeniently(call);
  if (answer && !answer->failure.empty()) End(OutcomeKind::kLaunchFailed, "launch", answer->failure);
  if (has_ended()) return std::nullopt;
  Note(*answer);
  return answer;
}

void SourceExchange::Note(const GuestAnswer& answer) {
  observed_calls_ += answer.observed_calls;
  for (const LaunchedKernel& kernel : answer.kernels) launches_[kernel.name] += kernel.launches;
}

GuestCall SourceExchange::CallFor(GuestWork work, uint32_t calls, uint32_t replays) const {
  return {work, uint32_t(present_set_), gemm_.shape, calls, replays};
}

// ---- tests

// Elements and canaries: whatever was done to the buffers before is undone.
Status SourceExchange::CopyIn(const Inputs& inputs) {
  Set& set = sets_[present_set_];
  RETURN_IF_ERROR(set.a.matrix.CopyFrom(workshop_.gpu, *inputs.a));
  RETURN_IF_ERROR(set.b.matrix.CopyFrom(workshop_.gpu, *inputs.b));
  set.loaded = &inputs;
  return OkStatus();
}

Inputs SourceExchange::Placed(const Inputs& inputs) const {
  Inputs placed = inputs;
  placed.a = &set().a.matrix;
  placed.b = &set().b.matrix;
  return placed;
}

// Those of plans, each in buffers drawn at random, into which its inputs come just before.
Status SourceExchange::TestAsPlans() {
  TestBench bench = bench_;
  std::array<Inputs, std::tuple_size_v<decltype(bench.inputs)>> placed;
  std::map<const Inputs*, const Inputs*> originals;
  for (size_t kind = 0; kind < placed.size(); ++kind) {
    if (bench_.inputs[kind] == nullptr) continue;
    bench.inputs[kind] = &placed[kind];
    originals[&placed[kind]] = bench_.inputs[kind];
  }
  bench.normal = bench.inputs[size_t(InputKind::kNormal)];
  const auto choose_set = [&] {
    present_set_ = random_.Below(sets_.size());
    for (size_t kind = 0; kind < placed.size(); ++kind)
      if (bench_.inputs[kind] != nullptr) placed[kind] = Placed(*bench_.inputs[kind]);
    bench.output = &set().c.matrix;
  };
  bench.workspace = &workspace_;
  bench.chainable = false;
  bench.deterministic = false;
  // The CPU looks at the session's output.
  if (bench_.compare_on_cpu)
    bench.compare_on_cpu = [&](double bound) -> Result<CpuComparison> {
      RETURN_IF_ERROR(session_.output().CopyFrom(workshop_.gpu, set().c.matrix));
      return bench_.compare_on_cpu(bound);
    };
  choose_set();
  const PutGemm put = [&](const Inputs& inputs, Chaining) -> Status {
    RETURN_IF_ERROR(CopyIn(*originals.at(&inputs)));
    RETURN_IF_ERROR(workshop_.gpu.Synchronize());
    const std::optional<GuestAnswer> answer = Ask(CallFor(GuestWork::kCalls, 1, 0));
    if (!answer) return IoError(outcome_->reason);
    busy_afterwards_ns_.push_back(std::max(0.0, answer->device_ns - answer->stream_ns));
    call_ns_ = call_ns_ > 0 ? std::min(call_ns_, answer->event_ns) : answer->event_ns;
    return OkStatus();
  };
  // Each test begins with its name: the moment for other buffers.
  ASSIGN_OR_RETURN(tested_, TestCandidate(verifier_, bench, put, [&](std::string_view test) {
                     Announce(fmt::format("test {}", test));
                     choose_set();
                   }));
  if (tested_.ended) End(*tested_.ended, StageOf(*tested_.ended), tested_.reason);
  if (has_ended()) outcome_->verdict = tested_.verdict;
  return OkStatus();
}

bool SourceExchange::Passes(std::string_view test, const Watched& watched) {
  if (has_ended()) return false;
  Conclude(test, watched, tested_);
  if (!tested_.ended) return true;
  End(*tested_.ended, StageOf(*tested_.ended), tested_.reason);
  return false;
}

// An element that a disturbance reached is larger than the largest before, and rounds accordingly.
double SourceExchange::DisturbedTolerance() const {
  constexpr double kReach = 200;
  return BoundsFor(gemm_, bench_.normal->reference->largest + kReach, 0).element;
}

Status SourceExchange::JudgeDisturbed(std::string_view test, const Inputs& inputs, OutcomeKind kind) {
  if (has_ended()) return OkStatus();
  ASSIGN_OR_RETURN(const std::vector<DisturbedAnswer> answers,
                   disturbances_.Collect(inputs, gemm_.shape.k, disturbance_memory_.address()));
  const std::string wrong = WrongAnswer(answers, DisturbedTolerance());
  if (wrong.empty()) return OkStatus();
  tested_.verdict.passed = false;
  tested_.verdict.test = test;
  tested_.verdict.explanation = wrong;
  End(kind, StageOf(kind), fmt::format("test {}: {}", test, wrong));
  return OkStatus();
}

// Fewer calls where they are so long that many would pass for a hang.
uint32_t SourceExchange::AtMost(uint32_t calls) const {
  constexpr double kNs = 2e9;
  return std::clamp(uint32_t(std::min(kNs / std::max(call_ns_, 1.0), 1e6)), uint32_t{2}, calls);
}

// The same addresses and nearly the same content, call after call: an answer kept from the last one is a wrong one.
Status SourceExchange::TestChangedInputs() {
  return RunBatch("changed_inputs", CallFor(GuestWork::kDisturbedCalls, AtMost(kChangedCalls), 0)).status();
}

// Inputs that nobody can have seen, made in place; the judge multiplies what is there, once it is known to be unharmed.
Status SourceExchange::TestSecondSeed() {
  Announce("test second_seed");
  present_set_ = random_.Below(sets_.size());
  Set& set = sets_[present_set_];
  set.loaded = nullptr;
  const uint64_t seed = random_.Next();
  RETURN_IF_ERROR(FillOperand(workshop_.harness, set.a.matrix, 'A', InputKind::kNormal, gemm_, seed));
  RETURN_IF_ERROR(FillOperand(workshop_.harness, set.b.matrix, 'B', InputKind::kNormal, gemm_, seed));
  Inputs fresh = Placed(*bench_.normal);
  RETURN_IF_ERROR(workshop_.harness.ResetReport());
  RETURN_IF_ERROR(workshop_.harness.Inspect({.a = fresh.a, .b = fresh.b}));
  ASSIGN_OR_RETURN(const HarnessReport before, workshop_.harness.ReadReport());
  fresh.checksum_a = before.checksum_a;
  fresh.checksum_b = before.checksum_b;
  RETURN_IF_ERROR(workshop_.harness.Poison(set.c.matrix.view()));
  const uint32_t calls = AtMost(kSecondSeedCalls);
  const std::vector<DisturbedStep> steps =
      DrawDisturbances(set.a.matrix.view(), set.b.matrix.view(), set.c.matrix.view(), int(calls), random_);
  RETURN_IF_ERROR(disturbances_.Prepare(steps, disturbance_memory_.address()));
  RETURN_IF_ERROR(workshop_.gpu.Synchronize());
  if (!Ask(CallFor(GuestWork::kDisturbedCalls, calls, 0))) return OkStatus();
  ASSIGN_OR_RETURN(const std::string damage, verifier_.LookForDamage(PlaceOf(fresh)));
  if (!damage.empty()) End(OutcomeKind::kCheated, "honesty", fmt::format("test second_seed: {}", damage));
  return JudgeDisturbed("second_seed", fresh, OutcomeKind::kWrong);
}

// A source may refuse the other shape, but what it does with it must not show in the next call.
Status SourceExchange::TestAfterAnotherShape() {
  Announce("test after_another_shape");
  RETURN_IF_ERROR(CopyIn(*bench_.normal));
  RETURN_IF_ERROR(workshop_.gpu.Synchronize());
  GuestCall other = CallFor(GuestWork::kCalls, 1, 0);
  other.shape = HalfOf(gemm_.shape);
  (void)AskLeniently(other);
  if (has_ended()) return OkStatus();
  return RunBatch("after_another_shape", CallFor(GuestWork::kCalls, 1, 0)).status();
}

Status SourceExchange::LookAtBehaviour() {
  if (const std::string unjoined = Unjoined(busy_afterwards_ns_); !unjoined.empty())
    End(OutcomeKind::kCheated, "honesty", unjoined);
  if (launches_.empty() && observed_calls_ > 0)
    End(OutcomeKind::kCheated, "honesty",
        fmt::format("no kernel was seen to be launched in {} calls of gemm()", observed_calls_));
  return OkStatus();
}

// ---- timing

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
    if (!answer) return IoError(outcome_->reason);
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
  present_set_ = random_.Below(sets_.size());
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
  return problem_.clocks.Has(Clock::kOffline) ? RunRace(Clock::kOffline) : OkStatus();
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
  if (!is_single) RETURN_IF_ERROR(workshop_.harness.LeadIn());
  RETURN_IF_ERROR(gpu.Record(first));
  RETURN_IF_ERROR(is_single ? rival.call() : gpu.Replay(graph.graph));
  RETURN_IF_ERROR(gpu.Record(last));
  ASSIGN_OR_RETURN(const double elapsed, gpu.ElapsedNs(first, last));
  return is_single ? elapsed : elapsed / graph.calls;
}

// Ours by the larger of the two clocks: the samples are the guest's, raised where the judge's clock says more.
void SourceExchange::AddTimings(Clock clock, const RaceResult& race) {
  RunConditions& conditions = timed_.conditions;
  const int discarded = conditions.discarded_batches + race.conditions.discarded_batches;
  if (timed_.timings.empty()) conditions = race.conditions;
  conditions.discarded_batches = discarded;
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
