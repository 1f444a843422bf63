#include "evaluate/source_exchange.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <random>
#include <system_error>

#include "base/descriptors.h"
#include "base/text.h"

namespace gemmsmith {

namespace {

constexpr size_t kSets = 2;
constexpr double kStartSeconds = 60, kLoadSeconds = 8, kCallSeconds = 8;
constexpr uint64_t kSpareBytes = uint64_t{1} << 30;  // of the guest's context and of what it loads

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

struct SharedSizes {
  uint64_t a, b, c, workspace;  // in bytes
};

SharedSizes SharedSizesOf(const Task& task) {
  const uint64_t a = GuardedMatrix::AllocationBytes(task.inputs[0]);
  return {.a = a,
          .b = GuardedMatrix::AllocationBytes(task.inputs[1]),
          // The C of a chain's first call is the second one's A.
          .c = std::max(GuardedMatrix::AllocationBytes(task.output), a),
          .workspace = GuardedWorkspace::AllocationBytes(kBaselineWorkspaceBytes)};
}

SharedBuffer Described(const SharedMemory& memory, uint64_t data_at) {
  return {memory.descriptor(), memory.size_bytes(), data_at};
}

}  // namespace

uint64_t OffsetOfMatrix(Alignment alignment, bool is_input, uint64_t allocated_bytes, uint64_t matrix_bytes) {
  constexpr uint64_t kPromised = 16, kAllocated = 256;
  const bool is_least = alignment == Alignment::kLeast;
  if (!is_input) return is_least ? kGuardBytes + kPromised : kGuardBytes;
  const uint64_t last = allocated_bytes - matrix_bytes;
  if (!is_least) return last / kAllocated * kAllocated;
  return ((last / kPromised - 1) | 1) * kPromised;
}

uint64_t SourceExchange::BytesFor(const Gemm& gemm) {
  const Task task = MakeTask(gemm);
  const auto [a, b, c, workspace] = SharedSizesOf(task);
  const uint64_t chain = uint64_t(task.output.ElementCount()) * sizeof(float);
  return kSets * (a + b + c) + workspace + chain + kSpareBytes;
}

SourceExchange::SourceExchange(const GpuTools& tools, DisturbanceJudge& disturbances, ProblemSession& session,
                               const ProblemMessage& problem, const CandidateMessage& candidate,
                               const StepListener& on_step)
    : tools_(tools),
      disturbances_(disturbances),
      session_(session),
      problem_(problem),
      candidate_(candidate),
      on_step_(on_step),
      setup_(session.TestSetupFor(problem, on_step)),
      gemm_(setup_.gemm),
      verifier_(tools.gpu, tools.harness),
      // These draws must not follow from the problem's seed, which a source may know.
      random_(uint64_t(std::random_device()()) << 32 | std::random_device()()),
      gaps_(Random(problem.seed).Fork("gaps of ours")) {
  if (problem.time) baselines_ = session.BaselinesFor(problem);
  timed_.protocol = problem.protocol;
  if (problem.time) timed_.baseline_algorithms = session.BaselineAlgorithms(problem);
}

SourceExchange::~SourceExchange() { guest_.reset(); }

Result<Judgements> SourceExchange::Run() {
  using Stage = Status (SourceExchange::*)();
  std::vector<Stage> stages = {&SourceExchange::Share,
                               &SourceExchange::OpenGuest,
                               &SourceExchange::TestAsPlans,
                               &SourceExchange::TestUnaligned,
                               &SourceExchange::TestChangedInputs,
                               &SourceExchange::TestSecondSeed,
                               &SourceExchange::TestAfterAnotherShape,
                               &SourceExchange::TestChainedCalls,
                               &SourceExchange::LookAtBehaviour};
  if (problem_.time)
    stages.insert(stages.end(),
                  {&SourceExchange::EstimateCall, &SourceExchange::TimeAlone, &SourceExchange::TimeAgainstBaselines});
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

Result<SourceExchange::SharedMatrix> SourceExchange::ShareMatrix(const Operand& operand, bool lines_are_rows,
                                                                 bool is_input, uint64_t least_bytes) {
  SharedMatrix shared;
  Gpu& gpu = tools_.gpu;
  ASSIGN_OR_RETURN(shared.memory, SharedMemory::Create(gpu, least_bytes));
  const CUdeviceptr address = shared.memory.address();
  const uint64_t bytes = shared.memory.size_bytes();
  ASSIGN_OR_RETURN(shared.idle, GuardedMatrix::CanariesOver(gpu, address, bytes));
  for (const Alignment alignment : kAlignments) {
    const uint64_t data_at = OffsetOfMatrix(alignment, is_input, bytes, uint64_t(operand.SpanBytes()));
    ASSIGN_OR_RETURN(shared.aligned[size_t(alignment)],
                     GuardedMatrix::Over(gpu, address, bytes, operand, lines_are_rows, data_at));
  }
  return shared;
}

BufferSet SourceExchange::BuffersOf(const Set& set, Alignment alignment) {
  const auto described = [&](const SharedMatrix& matrix) {
    return Described(matrix.memory, uint64_t(matrix.At(alignment).guard_elements()) * 2);
  };
  return {described(set.a), described(set.b), described(set.c)};
}

Status SourceExchange::Share() {
  Announce("share");
  Gpu& gpu = tools_.gpu;
  const Task task = MakeTask(gemm_);
  const auto [a_bytes, b_bytes, c_bytes, workspace_bytes] = SharedSizesOf(task);
  for (size_t i = 0; i < kSets; ++i) {
    Set& set = sets_.emplace_back();
    ASSIGN_OR_RETURN(set.a, ShareMatrix(task.inputs[0], gemm_.kind.layout.a == Order::kRow, true, a_bytes));
    ASSIGN_OR_RETURN(set.b, ShareMatrix(task.inputs[1], gemm_.kind.layout.b == Order::kRow, true, b_bytes));
    ASSIGN_OR_RETURN(set.c, ShareMatrix(task.output, true, false, c_bytes));
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
  for (const Alignment alignment : kAlignments)
    for (const Set& set : sets_) setup.sets.push_back(BuffersOf(set, alignment));
  setup.workspace = Described(workspace_memory_, kGuardBytes);
  setup.workspace_bytes = kBaselineWorkspaceBytes;
  setup.disturbances = Described(disturbance_memory_, 0);
  setup.counts = counts;
  ASSIGN_OR_RETURN(const std::vector<std::string> command, SandboxedGuest(tools_.gpu.identity().uuid, counts));
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
  return {work,        uint32_t(size_t(alignment_) * kSets + present_set_),
          gemm_.shape, calls,
          replays,     uint32_t(first_twin_ + twin)};
}

// ---- sets

void SourceExchange::ChooseSet() {
  if (random_.Below(sets_.size()) != present_set_) ChangeSet();
}

void SourceExchange::ChangeSet() {
  present_set_ = 1 - present_set_;
  is_idle_set_clear_ = false;
}

// Elements and canaries: whatever was done to the buffers before is undone.
Status SourceExchange::CopyIn(const Inputs& inputs) {
  Set& set = sets_[present_set_];
  RETURN_IF_ERROR(ClearIdleSet());
  RETURN_IF_ERROR(present_a().CopyFrom(tools_.gpu, *inputs.a));
  RETURN_IF_ERROR(present_b().CopyFrom(tools_.gpu, *inputs.b));
  set.loaded = &inputs;
  return OkStatus();
}

Status SourceExchange::ClearIdleSet() {
  if (is_idle_set_clear_) return OkStatus();
  Set& idle = idle_set();
  idle.loaded = nullptr;
  for (const SharedMatrix* matrix : {&idle.a, &idle.b, &idle.c})
    RETURN_IF_ERROR(matrix->idle.PaintCanaries(tools_.gpu));
  is_idle_set_clear_ = true;
  return OkStatus();
}

Status SourceExchange::LookAtIdleSet() {
  if (has_ended()) return OkStatus();
  const Set& idle = idle_set();
  RETURN_IF_ERROR(tools_.harness.ResetReport());
  RETURN_IF_ERROR(tools_.harness.Inspect({.a = &idle.a.idle, .b = &idle.b.idle, .c = &idle.c.idle}));
  ASSIGN_OR_RETURN(const HarnessReport report, tools_.harness.ReadReport());
  if (const uint64_t broken = report.broken_a + report.broken_b + report.broken_c; broken > 0)
    End(OutcomeKind::kCheated, "honesty",
        fmt::format("{} elements were written in the buffers of earlier calls", broken));
  return OkStatus();
}

Status SourceExchange::Align(Alignment alignment) {
  alignment_ = alignment;
  Set& set = sets_[present_set_];
  set.loaded = nullptr;
  return present_c().PaintCanaries(tools_.gpu);
}

Inputs SourceExchange::GuestInputs(const Inputs& inputs) const {
  Inputs guest_inputs = inputs;
  guest_inputs.a = &present_a();
  guest_inputs.b = &present_b();
  return guest_inputs;
}

}  // namespace gemmsmith
