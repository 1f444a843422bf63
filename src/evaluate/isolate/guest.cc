#include "evaluate/isolate/guest.h"

#include <dlfcn.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <map>
#include <random>
#include <tuple>

#include "base/confine.h"
#include "base/installation.h"
#include "base/seconds.h"
#include "base/stderr_text.h"
#include "base/subprocess.h"
#include "evaluate/isolate/disturbance.h"
#include "evaluate/isolate/frame.h"
#include "evaluate/isolate/guest_messages.h"
#include "evaluate/isolate/guest_runtime.h"
#include "evaluate/isolate/messages.h"
#include "evaluate/isolate/observer.h"
#include "evaluate/isolate/worker_loop.h"
#include "evaluate/profile/call_profiler.h"
#include "gpu/shared_memory.h"

namespace gemmsmith {

namespace {

using SteadyClock = std::chrono::steady_clock;
using Gemm_t = int (*)(const void* a, const void* b, void* c, int m, int n, int k, void* workspace,
                       size_t workspace_bytes, CUstream stream);

constexpr int64_t kLeadInCycles = 200'000;  // about 0.1 ms

// A buffer as its addresses here.
struct Buffer {
  SharedMemory memory;
  void* data = nullptr;
};

// An input: the mapping that the source reads, and a writable mapping for changes between calls, which no source is
// given.
struct Input {
  Buffer for_reading, for_writing;
};

// Whether steps come between these calls.
bool IsDisturbed(GuestWork work) {
  return work == GuestWork::kDisturbedCalls || work == GuestWork::kRenewedCalls || work == GuestWork::kShamCalls;
}

// Whether what lies between them is known only when they run.
bool IsReplaceable(GuestWork work) { return IsDisturbed(work) || work == GuestWork::kSpacedCalls; }

class Guest {
 public:
  // Everything that needs system calls which are given up afterwards.
  Status Open(const GuestSetup& setup);
  std::string_view observer() const { return observer_->name(); }
  GuestAnswer Serve(const GuestCall& call);

 private:
  struct Set {
    Input a, b;
    Buffer c;
  };
  using GraphKey = std::tuple<GuestWork, uint32_t, uint32_t, int, int, int, uint32_t>;

  Result<Buffer> Map(const SharedBuffer& shared, SharedMemory::Access access = SharedMemory::Access::kReadAndWrite,
                     const Distance& distance = {});
  Result<Input> MapInput(const SharedBuffer& shared);
  Status Load();
  Status CallForTheHost(const GuestCall& call, GuestAnswer& answer);
  Status CountCall(const GuestCall& call, GuestAnswer& answer);
  Status CallPlainly(const GuestCall& call, GuestAnswer& answer);
  Status CallByGraph(const GuestCall& call, GuestAnswer& answer);
  static GraphKey KeyOf(const GuestCall& call);
  // The calls with what comes between them; not what comes after the last one.
  Status PutCalls(const GuestCall& call, GuestAnswer& answer);
  Status PutCall(const GuestCall& call, GuestAnswer& answer);
  Status PutChain(const GuestCall& call, GuestAnswer& answer);
  // On the buffers of the call's set, or on any.
  Status CallGemm(const GuestCall& call);
  Status CallGemm(const void* a, const void* b, void* c, const Shape& shape);
  Status Disturb(const GuestCall& call) {
    return disturbing_->Disturb(Disturbed(call), disturbances_.memory.address(), call.key);
  }
  DisturbedMatrices Disturbed(const GuestCall& call) const;
  Status Capture(const GuestCall& call, GuestAnswer& answer);
  // Waits for what was put on the stream since, then for everything, and reads the clocks.
  Status Finish(const GuestCall& call, SteadyClock::time_point start, GuestAnswer& answer);
  void Report(GuestAnswer& answer);

  std::unique_ptr<Gpu> gpu_;
  std::optional<DisturbingKernels> disturbing_;
  GuestRuntime runtime_;
  std::unique_ptr<Observer> observer_;
  std::optional<CallProfiler> profiler_;
  std::vector<Set> sets_;
  Buffer workspace_, disturbances_;
  uint64_t workspace_bytes_ = 0;
  int object_descriptor_ = -1;
  Event first_, last_;
  Gemm_t gemm_ = nullptr;
  std::map<GraphKey, Graph> graphs_;
};

Status Guest::Open(const GuestSetup& setup) {
  if (setup.sets.size() % 2 != 0) return InvalidArgument("sets of buffers come in pairs");
  ASSIGN_OR_RETURN(gpu_, Gpu::Open(0));
  RETURN_IF_ERROR(runtime_.Open(setup.runtime_library));
  ASSIGN_OR_RETURN(disturbing_, DisturbingKernels::Load(*gpu_, setup.kernels));
  for (const BufferSet& shared : setup.sets) {
    Set& set = sets_.emplace_back();
    ASSIGN_OR_RETURN(set.a, MapInput(shared.a));
    ASSIGN_OR_RETURN(set.b, MapInput(shared.b));
    ASSIGN_OR_RETURN(set.c, Map(shared.c));
  }
  ASSIGN_OR_RETURN(workspace_, Map(setup.workspace));
  workspace_bytes_ = setup.workspace_bytes;
  ASSIGN_OR_RETURN(disturbances_, Map(setup.disturbances));
  for (const int descriptor : BufferDescriptors(setup)) ::close(descriptor);
  object_descriptor_ = setup.object_descriptor;
  ASSIGN_OR_RETURN(first_, gpu_->MakeEvent());
  ASSIGN_OR_RETURN(last_, gpu_->MakeEvent());
  // Forces lazy loading now.
  RETURN_IF_ERROR(disturbing_->Spin(1));
  RETURN_IF_ERROR(gpu_->OnAnotherStream([] { return OkStatus(); }));
  if (setup.counts) profiler_.emplace(*gpu_);
  Result<std::unique_ptr<Observer>> cupti = Unavailable("no CUPTI");
  if (!setup.observing_library.empty() && !setup.counts) cupti = MakeCuptiObserver(setup.observing_library);
  observer_ = cupti.ok() ? *std::move(cupti) : MakeBlindObserver();
  ASSIGN_OR_RETURN(const Driver* const driver, Driver::Open());
  runtime_.AnswerFor(*driver, *observer_);
  return OkStatus();
}

Result<Buffer> Guest::Map(const SharedBuffer& shared, SharedMemory::Access access, const Distance& distance) {
  Buffer buffer;
  ASSIGN_OR_RETURN(buffer.memory, SharedMemory::Open(*gpu_, shared.descriptor, shared.bytes, access, distance));
  buffer.data = buffer.memory.as<char>() + shared.data_at;
  return buffer;
}

Result<Input> Guest::MapInput(const SharedBuffer& shared) {
  Input input;
  ASSIGN_OR_RETURN(input.for_reading, Map(shared, SharedMemory::Access::kRead));
  // Its address does not follow from other addresses.
  constexpr uint64_t kApart = uint64_t{64} << 30;
  const uint64_t before = std::random_device()() * (kApart >> 32);
  ASSIGN_OR_RETURN(input.for_writing, Map(shared, SharedMemory::Access::kReadAndWrite, {before, kApart - before}));
  return input;
}

Status Guest::Load() {
  const std::string path = fmt::format("/proc/self/fd/{}", object_descriptor_);
  observer_->Enter(nullptr);
  void* const object = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  observer_->Leave();
  if (object == nullptr) return Unavailable(fmt::format("the object does not load: {}", LoaderError()));
  gemm_ = reinterpret_cast<Gemm_t>(::dlsym(object, "gemm"));
  if (gemm_ == nullptr) return Unavailable("the object has no function gemm");
  return OkStatus();
}

GuestAnswer Guest::Serve(const GuestCall& call) {
  GuestAnswer answer;
  Status served = InvalidArgument("a call before the object was loaded, or with buffers that there are not");
  if (call.work == GuestWork::kLoad) {
    served = Load();
  } else if (gemm_ != nullptr && call.set < sets_.size()) {
    if (call.work == GuestWork::kHostCall)
      served = CallForTheHost(call, answer);
    else if (call.work == GuestWork::kCountedCall)
      served = CountCall(call, answer);
    else if (call.is_only_capture)
      served = Capture(call, answer);
    else
      served = call.replays > 0 ? CallByGraph(call, answer) : CallPlainly(call, answer);
  }
  if (!served.ok()) {
    answer.failure = served.message();
    answer.is_lost = !gpu_->SynchronizeAll().ok();
  }
  Report(answer);
  return answer;
}

void Guest::Report(GuestAnswer& answer) {
  const std::vector<LaunchedKernel> seen = observer_->Kernels();
  answer.kernels.insert(answer.kernels.end(), seen.begin(), seen.end());
  answer.misdeeds = observer_->Misdeeds();
  observer_->Forget();
}

// As HostClock times a call: nothing of ours lies between the clock's two readings.
Status Guest::CallForTheHost(const GuestCall& call, GuestAnswer& answer) {
  // The GPU comes from the judge's context; that turn is not the call's.
  RETURN_IF_ERROR(disturbing_->Spin(1));
  RETURN_IF_ERROR(gpu_->Synchronize());
  const auto start = SteadyClock::now();
  RETURN_IF_ERROR(CallGemm(call));
  RETURN_IF_ERROR(gpu_->Synchronize());
  answer.stream_ns = NsSince(start);
  RETURN_IF_ERROR(gpu_->SynchronizeAll());
  answer.device_ns = NsSince(start);
  if (observer_->sees_calls()) ++answer.observed_calls;
  return OkStatus();
}

Status Guest::CountCall(const GuestCall& call, GuestAnswer& answer) {
  if (!profiler_) return InvalidArgument("counters of a guest that was not set up for them");
  ASSIGN_OR_RETURN(answer.counters, profiler_->Read([&] { return CallGemm(call); }));
  return OkStatus();
}

Status Guest::CallPlainly(const GuestCall& call, GuestAnswer& answer) {
  const auto start = SteadyClock::now();
  for (uint32_t before = 0; before < call.calls_before; ++before) RETURN_IF_ERROR(PutCall(call, answer));
  RETURN_IF_ERROR(gpu_->Record(first_));
  RETURN_IF_ERROR(PutCalls(call, answer));
  RETURN_IF_ERROR(Finish(call, start, answer));
  if (observer_->sees_calls() || call.work != GuestWork::kCalls) return OkStatus();
  // Where this call is not captured, nobody has seen into it.
  if (const auto launches = CaptureLaunches(*gpu_, [&] { return CallGemm(call); }); launches.ok()) {
    answer.kernels = CountLaunches(*launches);
    answer.observed_calls = 1;
  }
  return OkStatus();
}

Guest::GraphKey Guest::KeyOf(const GuestCall& call) {
  return {call.work, call.set, call.calls, call.shape.m, call.shape.n, call.shape.k, call.twin};
}

// On another stream than plain calls, so that whoever keeps the stream of an earlier call works beside the graph. There
// it only is captured: a second stream on which something runs made later calls of everybody 0.17 us longer
// (docs/lab/judge.md).
Status Guest::Capture(const GuestCall& call, GuestAnswer& answer) {
  const auto put = [&] { return PutCalls(call, answer); };
  const Status captured = gpu_->OnAnotherStream([&]() -> Status {
    ASSIGN_OR_RETURN(Graph graph, IsReplaceable(call.work) ? gpu_->CaptureReplaceable(put) : gpu_->Capture(put));
    graphs_.insert_or_assign(KeyOf(call), std::move(graph));
    return OkStatus();
  });
  if (captured.ok()) return OkStatus();
  return IoError(fmt::format("calls of gemm() are not captured into a graph: {}", captured.message()));
}

Status Guest::CallByGraph(const GuestCall& call, GuestAnswer& answer) {
  if (!graphs_.contains(KeyOf(call))) RETURN_IF_ERROR(Capture(call, answer));
  const Graph& graph = graphs_.at(KeyOf(call));
  if (IsDisturbed(call.work))
    RETURN_IF_ERROR(disturbing_->SetKey(graph, Disturbed(call), disturbances_.memory.address(), call.key));
  if (call.work == GuestWork::kSpacedCalls) RETURN_IF_ERROR(disturbing_->SetPause(graph, call.pause_ns));
  const auto start = SteadyClock::now();
  RETURN_IF_ERROR(disturbing_->Spin(kLeadInCycles));
  // As everybody who comes first (DeviceClock).
  if (call.work == GuestWork::kFollowingCalls) RETURN_IF_ERROR(gpu_->Replay(graph));
  RETURN_IF_ERROR(gpu_->Record(first_));
  for (uint32_t i = 0; i < call.replays; ++i) RETURN_IF_ERROR(gpu_->Replay(graph));
  return Finish(call, start, answer);
}

DisturbedMatrices Guest::Disturbed(const GuestCall& call) const {
  const Set& set = sets_[call.set];
  return {set.a.for_writing.data, set.b.for_writing.data, set.c.data, call.shape, call.work == GuestWork::kShamCalls};
}

Status Guest::PutCalls(const GuestCall& call, GuestAnswer& answer) {
  if (call.work == GuestWork::kChainedCalls) return PutChain(call, answer);
  for (uint32_t i = 0; i < call.calls; ++i) {
    if (IsDisturbed(call.work)) RETURN_IF_ERROR(Disturb(call));
    if (call.work == GuestWork::kSpacedCalls) RETURN_IF_ERROR(disturbing_->Pause(call.pause_ns));
    RETURN_IF_ERROR(PutCall(call, answer));
  }
  return OkStatus();
}

Status Guest::PutCall(const GuestCall& call, GuestAnswer& answer) {
  if (observer_->sees_calls()) ++answer.observed_calls;
  return CallGemm(call);
}

// The other set's C stands between the two: it has room for an A.
Status Guest::PutChain(const GuestCall& call, GuestAnswer& answer) {
  const Set& set = sets_[call.set];
  void* const between = sets_[call.set ^ 1].c.data;
  RETURN_IF_ERROR(CallGemm(set.a.for_reading.data, set.b.for_reading.data, between, call.shape));
  RETURN_IF_ERROR(CallGemm(between, set.b.for_reading.data, set.c.data, call.shape));
  if (observer_->sees_calls()) answer.observed_calls += 2;
  return OkStatus();
}

Status Guest::CallGemm(const GuestCall& call) {
  const Set& set = sets_[call.set];
  return CallGemm(set.a.for_reading.data, set.b.for_reading.data, set.c.data, call.shape);
}

Status Guest::CallGemm(const void* a, const void* b, void* c, const Shape& shape) {
  const auto [m, n, k] = shape;
  runtime_.ForgetError();
  observer_->Enter(gpu_->stream());
  const int error = gemm_(a, b, c, m, n, k, workspace_.data, workspace_bytes_, gpu_->stream());
  observer_->Leave();
  if (error != 0) return IoError(fmt::format("gemm() returned {}", runtime_.Explain(error)));
  return OkStatus();
}

Status Guest::Finish(const GuestCall& call, SteadyClock::time_point start, GuestAnswer& answer) {
  RETURN_IF_ERROR(gpu_->Record(last_));
  if (call.work == GuestWork::kDisturbedCalls) RETURN_IF_ERROR(Disturb(call));
  RETURN_IF_ERROR(gpu_->Synchronize());
  answer.stream_ns = NsSince(start);
  RETURN_IF_ERROR(gpu_->SynchronizeAll());
  answer.device_ns = NsSince(start);
  ASSIGN_OR_RETURN(answer.event_ns, gpu_->ElapsedNs(first_, last_));
  return OkStatus();
}

int ServeCalls(Guest& guest, int out) {
  while (true) {
    const Result<Frame> frame = ReadFrame(STDIN_FILENO);
    if (!frame.ok()) return frame.status().code() == StatusCode::kNotFound ? 0 : 1;
    const Result<GuestCall> call = DecodeGuestCall(frame->payload);
    if (frame->type != FrameType::kCall || !call.ok()) return 1;
    const GuestAnswer answer = guest.Serve(*call);
    if (!WriteFrame(out, FrameType::kCalled, Encode(answer)).ok()) return 1;
    if (answer.is_lost) return 3;
  }
}

Status OpenGuest(Guest& guest) {
  ASSIGN_OR_RETURN(const Frame frame, ReadFrame(STDIN_FILENO));
  if (frame.type != FrameType::kSetUp) return InvalidArgument("a guest is set up first");
  ASSIGN_OR_RETURN(const GuestSetup setup, DecodeGuestSetup(frame.payload));
  RETURN_IF_ERROR(guest.Open(setup));
  return ForbidSystemCalls(SystemCalls::kGuest);
}

}  // namespace

int RunGuest() {
  const Result<int> out = SeparateStandardOutput();
  if (!out.ok()) {
    WriteStderr(fmt::format("{}\n", out.status().message()));
    return 1;
  }
  DieWithProgram();
  Guest guest;
  if (const Status opened = OpenGuest(guest); !opened.ok())
    return WriteFrame(*out, FrameType::kFailed, EncodeFailure(opened)).ok() ? 3 : 1;
  if (!WriteFrame(*out, FrameType::kOpened, Encode(GuestReady{std::string(guest.observer())})).ok()) return 1;
  const int exit_code = ServeCalls(guest, *out);
  // Neither the candidate's destructors nor the teardown of a context that may be broken.
  std::_Exit(exit_code);
}

}  // namespace gemmsmith
