#include "evaluate/gpu_judge.h"

#include <algorithm>
#include <chrono>

#include "base/files.h"
#include "evaluate/time/offline_clock.h"
#include "evaluate/verify/harness_text.h"

namespace gemmsmith {

namespace {

constexpr size_t kMaxSessions = 16;
constexpr uint64_t kSpareBytes = uint64_t{1} << 30;  // for workspaces and what libraries take for themselves
constexpr int64_t kLeadInCycles = 200'000;           // about 0.1 ms
constexpr double kShortWarmUpSeconds = 0.2;

void End(Outcome& outcome, OutcomeKind kind, std::string_view stage, std::string reason) {
  outcome.kind = kind;
  outcome.stage = stage;
  outcome.reason = std::move(reason);
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

std::string DriverText(const GpuIdentity& gpu) {
  return fmt::format("{}{}(CUDA {}.{})", gpu.driver_release, gpu.driver_release.empty() ? "" : " ",
                     gpu.driver_version / 1000, gpu.driver_version % 1000 / 10);
}

void AddTo(Outcome& outcome, RaceResult race) {
  RunConditions& all = outcome.conditions;
  const RunConditions& now = race.conditions;
  if (outcome.timings.empty()) {
    all = now;
  } else {
    all.discarded_batches += now.discarded_batches;
    all.power_capped = all.power_capped || now.power_capped;
  }
  std::move(race.timings.begin(), race.timings.end(), std::back_inserter(outcome.timings));
  std::move(race.comparisons.begin(), race.comparisons.end(), std::back_inserter(outcome.comparisons));
}

// Rounds whose times nobody keeps: one for the screen, a fifth of a second for the short protocol.
Status WarmUp(Protocol protocol, size_t contenders, const TimeRound& time_round) {
  std::vector<size_t> order(contenders);
  for (size_t i = 0; i < contenders; ++i) order[i] = i;
  const auto start = std::chrono::steady_clock::now();
  const double seconds = protocol == Protocol::kShort ? kShortWarmUpSeconds : 0;
  do {
    ASSIGN_OR_RETURN(const std::vector<double> ignored, time_round(order));
  } while (std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count() < seconds);
  return OkStatus();
}

}  // namespace

Result<std::unique_ptr<GpuJudge>> GpuJudge::Open(int gpu_ordinal) {
  std::unique_ptr<GpuJudge> judge(new GpuJudge());
  ASSIGN_OR_RETURN(const std::vector<GpuIdentity> gpus, ListGpus());
  if (gpu_ordinal < 0 || size_t(gpu_ordinal) >= gpus.size())
    return Unavailable(fmt::format("there is no GPU {}; the driver sees {}", gpu_ordinal, gpus.size()));
  // Times can be taken without NVML; they are then recorded without clocks.
  if (Result<std::unique_ptr<Nvml>> nvml = Nvml::Open(gpus[gpu_ordinal].uuid); nvml.ok())
    judge->nvml_ = *std::move(nvml);
  ASSIGN_OR_RETURN(judge->gpu_, Gpu::Open(gpu_ordinal));

  ASSIGN_OR_RETURN(std::unique_ptr<Compiler> nvrtc, MakeNvrtcCompiler());
  const std::unique_ptr<Compiler> compiler = MakeCachedCompiler(std::move(nvrtc), HomeFolder() / "cache");
  ASSIGN_OR_RETURN(judge->harness_, HarnessKernels::Load(*judge->gpu_, *compiler));
  ASSIGN_OR_RETURN(judge->cublas_, Cublas::Open());
  ASSIGN_OR_RETURN(judge->baseline_workspace_, judge->gpu_->Allocate(kBaselineWorkspaceBytes));

  const GpuIdentity& gpu = judge->gpu_->identity();
  judge->hello_.device = gpu.device;
  Setting& setting = judge->hello_.setting;
  setting.device_key = gpu.device.key;
  setting.device_name = gpu.device.name;
  setting.gpu_uuid = gpu.uuid;
  setting.driver = DriverText(gpu);
  setting.libraries = judge->cublas_->Version();
  setting.harness = HarnessIdentity();
  return judge;
}

Result<ProblemSession*> GpuJudge::FindOrCreateSession(const Gemm& gemm, uint64_t seed) {
  const auto found = std::find_if(sessions_.begin(), sessions_.end(), [&](const auto& session) {
    return session->gemm() == gemm && session->seed() == seed;
  });
  if (found != sessions_.end()) {
    sessions_.splice(sessions_.begin(), sessions_, found);
    return sessions_.front().get();
  }
  const uint64_t needed = ProblemSession::BytesFor(gemm) + kSpareBytes;
  while (!sessions_.empty() && (sessions_.size() >= kMaxSessions || gpu_->FreeBytes() < needed)) sessions_.pop_back();
  if (gpu_->FreeBytes() < needed)
    return Unavailable(fmt::format("{} needs {:.1f} GB on the GPU to be judged, {:.1f} are free", Print(gemm),
                                   double(needed) / 1e9, double(gpu_->FreeBytes()) / 1e9));
  ASSIGN_OR_RETURN(std::unique_ptr<ProblemSession> session,
                   ProblemSession::Create(*gpu_, *harness_, *cublas_, baseline_workspace_, gemm, seed));
  sessions_.push_front(std::move(session));
  return sessions_.front().get();
}

Status GpuJudge::Prepare(const ProblemMessage& problem, const StepListener& on_step) {
  problem_ = problem;
  ASSIGN_OR_RETURN(ProblemSession* const session, FindOrCreateSession(problem.gemm, problem.seed));
  const Status prepared = session->Prepare(problem.protocol, on_step);
  if (!prepared.ok()) ForgetSession();
  return prepared;
}

void GpuJudge::ForgetSession() {
  sessions_.pop_front();
  workspace_.reset();
}

// Exactly the candidate's bytes, so that its canaries stand right behind them.
Result<bool> GpuJudge::FitWorkspace(uint64_t bytes) {
  if (workspace_ && workspace_->size_bytes() == GuardedWorkspace::SizeFor(bytes)) return true;
  workspace_.reset();
  if (bytes + kSpareBytes / 2 > gpu_->FreeBytes()) return false;
  ASSIGN_OR_RETURN(workspace_, GuardedWorkspace::Create(*gpu_, bytes));
  return true;
}

Result<Judgement> GpuJudge::Evaluate(const CandidateMessage& candidate, const StepListener& on_step) {
  if (sessions_.empty()) return InvalidArgument("a candidate came before its problem");
  const ProblemSession& session = *sessions_.front();
  Judgement judgement;
  Outcome& outcome = judgement.outcome;
  outcome.protocol = problem_.protocol;
  outcome.baseline_algorithms = session.BaselineAlgorithms();
  ASSIGN_OR_RETURN(const bool fits, FitWorkspace(candidate.launch.workspace_bytes));
  if (!fits) {
    End(outcome, OutcomeKind::kResourceOver, "launch",
        fmt::format("a workspace of {} bytes does not fit on the GPU", candidate.launch.workspace_bytes));
    return judgement;
  }
  on_step("load");
  const Result<Kernel> kernel = gpu_->Load(candidate.cubin, candidate.entry, candidate.launch.smem_bytes);
  if (!kernel.ok()) {
    End(outcome, OutcomeKind::kLaunchFailed, "launch", kernel.status().message());
  } else {
    const auto call = [&](const Inputs& inputs) {
      return gpu_->Start(*kernel, candidate.launch,
                         ArgumentsFor(session.gemm(), inputs.a->data(), inputs.b->data(), session.output().data(),
                                      workspace_->data()));
    };
    RETURN_IF_ERROR(TestAndTime(call, on_step, outcome));
  }
  // What the candidate broke beyond its own launch shows here.
  if (const Status alive = gpu_->Synchronize(); !alive.ok()) {
    judgement.worker_is_lost = true;
    if (outcome.kind == OutcomeKind::kMeasured) End(outcome, OutcomeKind::kLaunchFailed, "timing", alive.message());
  }
  return judgement;
}

Status GpuJudge::TestAndTime(const std::function<Status(const Inputs&)>& call, const StepListener& on_step,
                             Outcome& outcome) {
  const ProblemSession& session = *sessions_.front();
  TestBench bench = session.BenchFor(problem_.protocol);
  bench.workspace = &*workspace_;
  Verifier verifier(*gpu_, *harness_);
  ASSIGN_OR_RETURN(TestResult tested, TestCandidate(verifier, bench, call, on_step));
  if (!tested.ended) {
    RETURN_IF_ERROR(verifier.Poison(session.output()));
    const Status timed = Time([&] { return call(session.normal()); }, on_step, outcome);
    if (!timed.ok() && gpu_->Synchronize().ok()) return timed;
    if (!timed.ok()) {
      End(outcome, OutcomeKind::kLaunchFailed, "timing", timed.message());
      return OkStatus();
    }
    on_step("test timed_output");
    ASSIGN_OR_RETURN(const Watched watched,
                     verifier.LookAtOutput(bench.gemm, {bench.normal, bench.output, bench.workspace}, 0));
    Conclude("timed_output", watched, tested);
  }
  outcome.verdict = tested.verdict;
  if (tested.ended)
    End(outcome, *tested.ended, StageOf(*tested.ended), tested.reason);
  else
    outcome.kind = OutcomeKind::kMeasured;
  if (tested.touched_others) ForgetSession();
  return OkStatus();
}

Status GpuJudge::Time(const PutCall& call, const StepListener& on_step, Outcome& outcome) {
  RETURN_IF_ERROR(RunDeviceClock(call, on_step, outcome));
  return problem_.offline_clock ? RunOfflineClock(call, on_step, outcome) : OkStatus();
}

std::vector<RaceEntry> GpuJudge::Entries() const {
  std::vector<RaceEntry> entries = {{"ours", false}};
  for (const Baseline* baseline : sessions_.front()->RivalsFor(problem_.protocol))
    entries.push_back({baseline->name, baseline->kind == BaselineKind::kLtAuto});
  return entries;
}

RaceRules GpuJudge::Rules() const {
  if (problem_.protocol == Protocol::kScreen) return {5, 5, 0};
  return {10, 100, 0.02};
}

ReadCondition GpuJudge::ConditionReader() const {
  if (!nvml_) return {};
  return [this] { return nvml_->Read(); };
}

Status GpuJudge::RunDeviceClock(const PutCall& call, const StepListener& on_step, Outcome& outcome) {
  on_step("capture");
  ASSIGN_OR_RETURN(const CallGraph ours, CallGraph::Capture(*gpu_, call));
  std::vector<const CallGraph*> graphs = {&ours};
  for (const Baseline* baseline : sessions_.front()->RivalsFor(problem_.protocol)) graphs.push_back(&baseline->graph);
  ASSIGN_OR_RETURN(DeviceClock clock,
                   DeviceClock::Create(*gpu_, graphs.size(), [this] { return harness_->Spin(kLeadInCycles); }));
  const TimeRound round = [&](std::span<const size_t> order) {
    on_step("device clock");
    return clock.TimeRound(graphs, order);
  };
  RETURN_IF_ERROR(WarmUp(problem_.protocol, graphs.size(), round));
  Random random = Random(problem_.seed).Fork("device clock");
  ASSIGN_OR_RETURN(RaceResult race, Race(Entries(), Rules(), Clock::kDevice, random, ConditionReader(), round));
  AddTo(outcome, std::move(race));
  return OkStatus();
}

Status GpuJudge::RunOfflineClock(const PutCall& call, const StepListener& on_step, Outcome& outcome) {
  std::vector<PutCall> calls = {call};
  for (const Baseline* baseline : sessions_.front()->RivalsFor(problem_.protocol)) calls.push_back(baseline->call);
  ASSIGN_OR_RETURN(OfflineClock clock, OfflineClock::Create(*gpu_, calls.size()));
  const TimeRound round = [&](std::span<const size_t> order) {
    on_step("offline clock");
    return clock.TimeRound(calls, order);
  };
  RETURN_IF_ERROR(WarmUp(problem_.protocol, calls.size(), round));
  Random random = Random(problem_.seed).Fork("offline clock");
  ASSIGN_OR_RETURN(RaceResult race, Race(Entries(), Rules(), Clock::kOffline, random, ConditionReader(), round));
  AddTo(outcome, std::move(race));
  return OkStatus();
}

}  // namespace gemmsmith
