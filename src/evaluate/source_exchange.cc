#include "evaluate/source_exchange.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <limits>
#include <random>
#include <system_error>

#include "base/descriptors.h"
#include "base/text.h"

namespace gemmsmith {

namespace {

constexpr size_t kSets = 2;
constexpr double kStartSeconds = 60, kLoadSeconds = 8, kCallSeconds = 8;
constexpr uint64_t kSpareBytes = uint64_t{1} << 30;  // of the guest's context and of what it loads
constexpr uint32_t kChangedCalls = 12, kSecondSeedCalls = 16;

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

static_assert(kSets == 2, "one is present, the other idle");

SharedBuffer Described(const SharedMemory& memory, uint64_t data_at) {
  return {memory.descriptor(), memory.size_bytes(), data_at};
}

constexpr uint64_t kElementsAt = uint64_t(kGuardElements) * 2;

Shape HalfOf(const Shape& shape) {
  return {std::max(1, shape.m / 2), std::max(1, shape.n / 2), std::max(1, shape.k / 2)};
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
      random_(uint64_t(std::random_device()()) << 32 | std::random_device()()),
      gaps_(Random(problem.seed).Fork("gaps of ours")) {
  if (problem.time) rivals_ = session.RivalsFor(problem);
  timed_.protocol = problem.protocol;
  if (problem.time) timed_.baseline_algorithms = session.BaselineAlgorithms(problem);
}

SourceExchange::~SourceExchange() { guest_.reset(); }

Result<Judgements> SourceExchange::Run() {
  using Stage = Status (SourceExchange::*)();
  std::vector<Stage> stages = {&SourceExchange::Share,
                               &SourceExchange::OpenGuest,
                               &SourceExchange::TestAsPlans,
                               &SourceExchange::TestChangedInputs,
                               &SourceExchange::TestSecondSeed,
                               &SourceExchange::TestAfterAnotherShape,
                               &SourceExchange::TestChainedCalls,
                               &SourceExchange::LookAtBehaviour};
  if (problem_.time)
    stages.insert(stages.end(),
                  {&SourceExchange::EstimateCall, &SourceExchange::TimeAlone, &SourceExchange::TimeAgainstRivals});
  for (const Stage stage : stages) {
    if (has_ended()) break;
    RETURN_IF_ERROR((this->*stage)());
  }
  End(problem_.time ? OutcomeKind::kMeasured : OutcomeKind::kVerified, "", "");
  if (problem_.counters) ReadCounters();
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
  Gpu& gpu = workshop_.gpu;
  ASSIGN_OR_RETURN(shared.memory, SharedMemory::Create(gpu, GuardedMatrix::AllocationBytes(operand)));
  const CUdeviceptr address = shared.memory.address();
  const uint64_t bytes = shared.memory.size_bytes();
  ASSIGN_OR_RETURN(shared.idle, GuardedMatrix::CanariesOver(gpu, address, bytes));
  ASSIGN_OR_RETURN(shared.matrix, GuardedMatrix::Over(gpu, address, bytes, operand, lines_are_rows));
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
  const uint64_t chain_bytes = uint64_t(task.output.ElementCount()) * sizeof(float);
  if (const uint64_t needed = kSets * set_bytes + workspace_bytes + chain_bytes + kSpareBytes; gpu.FreeBytes() < needed)
    workshop_.workspaces.Clear();
  for (size_t i = 0; i < kSets; ++i) {
    Set& set = sets_.emplace_back();
    ASSIGN_OR_RETURN(set.a, ShareMatrix(task.inputs[0], gemm_.kind.layout.a == Order::kRow));
    ASSIGN_OR_RETURN(set.b, ShareMatrix(task.inputs[1], gemm_.kind.layout.b == Order::kRow));
    ASSIGN_OR_RETURN(set.c, ShareMatrix(task.output, true));
  }
  ASSIGN_OR_RETURN(workspace_memory_, SharedMemory::Create(gpu, workspace_bytes));
  ASSIGN_OR_RETURN(workspace_, GuardedWorkspace::Over(gpu, workspace_memory_.address(), workspace_memory_.size_bytes(),
                                                      kBaselineWorkspaceBytes));
  ASSIGN_OR_RETURN(disturbance_memory_, SharedMemory::Create(gpu, DisturbanceMemory::kBytes));
  return gpu.Synchronize();
}

Result<GuestProcess> SourceExchange::StartGuest(bool counts) {
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
  setup.counts = counts;
  ASSIGN_OR_RETURN(const std::vector<std::string> command, SandboxedGuest(workshop_.gpu.identity().uuid, counts));
  return GuestProcess::Start(command, setup, kStartSeconds);
}

Status SourceExchange::OpenGuest() {
  Announce("guest");
  ASSIGN_OR_RETURN(GuestProcess guest, StartGuest(false));
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

std::optional<GuestAnswer> SourceExchange::AskToCapture(GuestCall call) {
  call.is_only_capture = true;
  return Ask(call);
}

void SourceExchange::Note(const GuestAnswer& answer) {
  observed_calls_ += answer.observed_calls;
  for (const LaunchedKernel& kernel : answer.kernels) launches_[WithoutControls(kernel.name)] += kernel.launches;
}

GuestCall SourceExchange::CallFor(GuestWork work, uint32_t calls, uint32_t replays, int twin) const {
  return {work, uint32_t(present_set_), gemm_.shape, calls, replays, uint32_t(twin)};
}

// ---- tests

void SourceExchange::ChooseSet() {
  const size_t chosen = random_.Below(sets_.size());
  if (chosen != present_set_) is_idle_set_clear_ = false;
  present_set_ = chosen;
}

// Elements and canaries: whatever was done to the buffers before is undone.
Status SourceExchange::CopyIn(const Inputs& inputs) {
  Set& set = sets_[present_set_];
  RETURN_IF_ERROR(ClearIdleSet());
  RETURN_IF_ERROR(set.a.matrix.CopyFrom(workshop_.gpu, *inputs.a));
  RETURN_IF_ERROR(set.b.matrix.CopyFrom(workshop_.gpu, *inputs.b));
  set.loaded = &inputs;
  return OkStatus();
}

Status SourceExchange::ClearIdleSet() {
  if (is_idle_set_clear_) return OkStatus();
  Set& idle = idle_set();
  idle.loaded = nullptr;
  for (const SharedMatrix* matrix : {&idle.a, &idle.b, &idle.c})
    RETURN_IF_ERROR(matrix->idle.PaintCanaries(workshop_.gpu));
  is_idle_set_clear_ = true;
  return OkStatus();
}

Status SourceExchange::LookAtIdleSet() {
  if (has_ended()) return OkStatus();
  const Set& idle = idle_set();
  RETURN_IF_ERROR(workshop_.harness.ResetReport());
  RETURN_IF_ERROR(workshop_.harness.Inspect({.a = &idle.a.idle, .b = &idle.b.idle, .c = &idle.c.idle}));
  ASSIGN_OR_RETURN(const HarnessReport report, workshop_.harness.ReadReport());
  if (const uint64_t broken = report.broken_a + report.broken_b + report.broken_c; broken > 0)
    End(OutcomeKind::kCheated, "honesty",
        fmt::format("{} elements were written in the buffers of earlier calls", broken));
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
    ChooseSet();
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
    RETURN_IF_ERROR(LookAtIdleSet());
    if (has_ended()) return IoError(outcome_->reason);
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

void SourceExchange::Refute(std::string_view test, const std::string& wrong) {
  tested_.verdict.passed = false;
  tested_.verdict.test = test;
  tested_.verdict.explanation = wrong;
  End(OutcomeKind::kWrong, StageOf(OutcomeKind::kWrong), fmt::format("test {}: {}", test, wrong));
}

// An element that a disturbance reached is larger than the largest before, and rounds accordingly.
double SourceExchange::DisturbedTolerance() const {
  constexpr double kReach = 200;
  return BoundsFor(gemm_, bench_.normal->reference->largest + kReach, 0).element;
}

Status SourceExchange::JudgeDisturbed(std::string_view test, const Inputs& inputs, uint32_t calls) {
  if (has_ended() || calls == 0) return OkStatus();
  ASSIGN_OR_RETURN(const std::vector<DisturbedAnswer> answers,
                   disturbances_.Collect(inputs, gemm_.shape.k, disturbance_memory_.address(), calls));
  const std::string wrong = WrongAnswer(answers, DisturbedTolerance());
  if (!wrong.empty()) Refute(test, wrong);
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
  ChooseSet();
  RETURN_IF_ERROR(ClearIdleSet());
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
  RETURN_IF_ERROR(workshop_.gpu.Synchronize());
  GuestCall call = CallFor(GuestWork::kDisturbedCalls, calls, 1);
  if (!AskToCapture(call)) return OkStatus();
  // From here on no host code of the source's runs until the calls have run.
  call.key = DrawKey(random_);
  RETURN_IF_ERROR(PrepareDisturbances(calls, call.key));
  RETURN_IF_ERROR(workshop_.gpu.Synchronize());
  if (!Ask(call)) return OkStatus();
  ASSIGN_OR_RETURN(const std::string damage, verifier_.LookForDamage(PlaceOf(fresh)));
  if (!damage.empty()) End(OutcomeKind::kCheated, "honesty", fmt::format("test second_seed: {}", damage));
  RETURN_IF_ERROR(LookAtIdleSet());
  return JudgeDisturbed("second_seed", fresh, calls);
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

// A call that does not wait for the one ahead of it multiplies what stood there before.
Status SourceExchange::TestChainedCalls() {
  Announce("test chained_calls");
  ChooseSet();
  RETURN_IF_ERROR(CopyIn(*bench_.normal));
  const Set& idle = idle_set();
  is_idle_set_clear_ = false;
  RETURN_IF_ERROR(idle.a.matrix.CopyFrom(workshop_.gpu, *bench_.normal->a));
  RETURN_IF_ERROR(workshop_.harness.Poison(set().c.matrix.view()));
  RETURN_IF_ERROR(workshop_.gpu.Synchronize());
  const std::optional<GuestAnswer> answer = Ask(CallFor(GuestWork::kChainedCalls, 2, 1));
  if (!answer) return OkStatus();
  ASSIGN_OR_RETURN(const std::string wrong, WrongInChain());
  if (!wrong.empty()) Refute("chained_calls", wrong);
  return OkStatus();
}

Result<std::string> SourceExchange::WrongInChain() {
  // Of the largest element; what stood there before is far from it, and sums of f16 are not exact.
  const float share = gemm_.kind.accumulation == Accumulation::kF16 ? 0.3f : 0.05f;
  constexpr float kSafeInF16 = 32e3;  // products of products may leave the type
  constexpr float kAny = std::numeric_limits<float>::max();
  Gpu& gpu = workshop_.gpu;
  const auto [m, n, k] = gemm_.shape;
  const Set& idle = idle_set();
  const MatrixView& between = idle.a.matrix.view();
  const auto address = [](const void* data) { return CUdeviceptr(reinterpret_cast<uintptr_t>(data)); };
  if (n > k) RETURN_IF_ERROR(gpu.Copy(address(between.data), address(idle.c.matrix.data()), uint64_t(m) * k * 2));
  ASSIGN_OR_RETURN(const DeviceMemory product, gpu.Allocate(uint64_t(m) * n * sizeof(float)));
  RETURN_IF_ERROR(workshop_.harness.Multiply(between, set().b.matrix.view(), product.as<float>(), m, n, k));
  RETURN_IF_ERROR(workshop_.harness.ResetReport());
  RETURN_IF_ERROR(workshop_.harness.Compare(set().c.matrix.view(), product.as<const float>(), kAny, 0));
  ASSIGN_OR_RETURN(const HarnessReport report, workshop_.harness.ReadReport());
  const float largest = report.differences.LargestReference(), error = report.differences.MaxAbsError();
  const bool may_overflow = gemm_.kind.type == ScalarType::kF16 && std::isfinite(largest) && largest > kSafeInF16;
  // A handful of outputs may all be small by chance; what is added up to them is not.
  const float scale = std::max(largest, std::sqrt(float(k)));
  if (may_overflow || error <= share * scale) return std::string();
  return fmt::format(
      "the second of two calls did not wait for what the first one wrote: an element is off by {}, the "
      "largest is {}",
      error, largest);
}

Status SourceExchange::LookAtBehaviour() {
  if (const std::string unjoined = Unjoined(busy_afterwards_ns_); !unjoined.empty())
    End(OutcomeKind::kCheated, "honesty", unjoined);
  if (launches_.empty() && observed_calls_ > 0)
    End(OutcomeKind::kCheated, "honesty",
        fmt::format("no kernel was seen to be launched in {} calls of gemm()", observed_calls_));
  return OkStatus();
}

}  // namespace gemmsmith
