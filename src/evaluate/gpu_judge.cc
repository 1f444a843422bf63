#include "evaluate/gpu_judge.h"

#include <algorithm>
#include <iterator>

#include "base/files.h"
#include "evaluate/time/energy_clock.h"
#include "harness/harness_text.h"

namespace gemmsmith {

namespace {

// Where a product is certified nothing is met again, and compute-sanitizer's processes run beside the judge: sixteen
// large ones left them 142 of 81,079 MiB (H100, November 2026).
size_t MostSessionsWith(const ProblemMessage& problem) { return problem.certify ? 1 : 16; }
constexpr uint64_t kSpareBytes = uint64_t{1} << 30;  // for workspaces and what libraries take for themselves

std::string DriverText(const GpuIdentity& gpu) {
  return fmt::format("{}{}(CUDA {}.{})", gpu.driver_release, gpu.driver_release.empty() ? "" : " ",
                     gpu.driver_version / 1000, gpu.driver_version % 1000 / 10);
}

// After such a failure nothing works in this process. The culprit is known only if one candidate was alone.
Judgements LostWith(size_t candidates, Protocol protocol, const std::string& driver_says) {
  Judgements lost;
  lost.outcomes.resize(candidates);
  lost.worker_is_lost = true;
  lost.one_by_one = candidates > 1;
  if (candidates != 1) return lost;
  Outcome& outcome = lost.outcomes[0].emplace();
  outcome.kind = OutcomeKind::kLaunchFailed;
  outcome.stage = "launch";
  outcome.reason = driver_says;
  outcome.protocol = protocol;
  return lost;
}

}  // namespace

Result<std::unique_ptr<GpuJudge>> GpuJudge::Open(int gpu_ordinal) {
  std::unique_ptr<GpuJudge> judge(new GpuJudge);
  ASSIGN_OR_RETURN(const std::vector<GpuIdentity> gpus, ListGpus());
  if (gpu_ordinal < 0 || size_t(gpu_ordinal) >= gpus.size())
    return Unavailable(fmt::format("there is no GPU {}; the driver sees {}", gpu_ordinal, gpus.size()));
  // Times can be taken without NVML; they are then recorded without clocks.
  if (Result<std::unique_ptr<Nvml>> nvml = Nvml::Open(gpus[gpu_ordinal].uuid); nvml.ok())
    judge->nvml_ = *std::move(nvml);
  ASSIGN_OR_RETURN(judge->gpu_, Gpu::Open(gpu_ordinal));

  ASSIGN_OR_RETURN(std::unique_ptr<Compiler> nvrtc, MakeNvrtcCompiler());
  judge->compiler_ = MakeCachedCompiler(std::move(nvrtc), HomeFolder() / "cache");
  ASSIGN_OR_RETURN(judge->harness_, HarnessKernels::Load(*judge->gpu_, *judge->compiler_));
  ASSIGN_OR_RETURN(judge->cublas_, Cublas::Open());
  ASSIGN_OR_RETURN(judge->baseline_workspace_, judge->gpu_->Allocate(kBaselineWorkspaceBytes));
  judge->torch_.emplace(gpu_ordinal, judge->gpu_->stream());
  judge->workspaces_.emplace(*judge->gpu_);
  std::error_code unnamed;  // without a name of this program there is no process to watch, which will be said then
  judge->counters_.emplace(*judge->gpu_, std::filesystem::read_symlink("/proc/self/exe", unnamed));

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

Result<ProblemSession*> GpuJudge::FindOrCreateSession(const ProblemMessage& problem) {
  const auto found =
      std::find_if(sessions_.begin(), sessions_.end(), [&](const auto& session) { return session->Serves(problem); });
  const uint64_t needed = ProblemSession::BytesFor(problem) + kSpareBytes;
  if (found != sessions_.end()) {
    sessions_.splice(sessions_.begin(), sessions_, found);
    // Memory that was free when the session was made may be taken by now.
    MakeRoom(needed - std::min(needed, sessions_.front()->HeldBytes()), 1);
    return sessions_.front().get();
  }
  while (sessions_.size() >= MostSessionsWith(problem)) sessions_.pop_back();
  MakeRoom(needed, 0);
  if (gpu_->FreeBytes() < needed)
    return Unavailable(fmt::format("{} needs {:.1f} GB on the GPU to be judged, {:.1f} are free", Print(problem.gemm),
                                   double(needed) / 1e9, double(gpu_->FreeBytes()) / 1e9));
  ASSIGN_OR_RETURN(std::unique_ptr<ProblemSession> session,
                   ProblemSession::Create({*gpu_, *harness_, *cublas_, *torch_, baseline_workspace_}, problem));
  sessions_.push_front(std::move(session));
  return sessions_.front().get();
}

void GpuJudge::MakeRoom(uint64_t bytes, size_t kept_sessions) {
  if (gpu_->FreeBytes() < bytes) workspaces_->Clear();
  while (sessions_.size() > kept_sessions && gpu_->FreeBytes() < bytes) sessions_.pop_back();
}

Status GpuJudge::Prepare(const ProblemMessage& problem, const StepListener& on_step) {
  TidyUp();
  problem_ = problem;
  if (problem.time && problem.clocks.Has(Clock::kEnergy)) RETURN_IF_ERROR(MeterOf(nvml_.get()).status());
  ASSIGN_OR_RETURN(ProblemSession* const session, FindOrCreateSession(problem));
  const Status prepared = session->Prepare(problem, on_step);
  if (!prepared.ok()) sessions_.pop_front();
  return prepared;
}

Result<Judgements> GpuJudge::Evaluate(std::span<const CandidateMessage> candidates, const StepListener& on_step) {
  if (sessions_.empty()) return InvalidArgument("candidates came before their problem");
  TidyUp();
  for (const CandidateMessage& candidate : candidates)
    if (!sessions_.front()->IsPrepared(InLayout(problem_, candidate.layout)))
      return InvalidArgument("a candidate in a layout that was not prepared");
  if (std::any_of(candidates.begin(), candidates.end(), [](const auto& candidate) { return candidate.source; }))
    MakeRoom(SourceOperands::BytesFor(problem_.gemm), 1);
  answered_ = std::make_unique<Exchange>(tools(), *sessions_.front(), problem_, candidates, on_step);
  Result<Judgements> judgements = UnlessLost(answered_->Run(), candidates.size());
  const bool is_lost = judgements.ok() && judgements->worker_is_lost;
  if (answered_->touched_others() && !is_lost) DropOtherSessions();
  return judgements;
}

void GpuJudge::TidyUp() {
  answered_.reset();
  counters_->Rest();
}

Result<Judgements> GpuJudge::UnlessLost(Result<Judgements> judgements, size_t candidates) {
  if (judgements.ok()) return judgements;
  const Status context = gpu_->Synchronize();
  return context.ok() ? judgements : LostWith(candidates, problem_.protocol, context.message());
}

Result<Judgements> GpuJudge::RaceBaselines(const StepListener& on_step) {
  if (sessions_.empty()) return InvalidArgument("a race was asked for before its problem");
  TidyUp();
  Result<Outcome> outcome = gemmsmith::RaceBaselines(tools(), *sessions_.front(), problem_, on_step);
  if (outcome.ok()) return Judgements{{*std::move(outcome)}};
  const Status context = gpu_->Synchronize();
  return context.ok() ? Result<Judgements>(outcome.status()) : LostWith(1, problem_.protocol, context.message());
}

// They are made anew when they are needed: only a look at all of them would tell which ones the damage reached.
void GpuJudge::DropOtherSessions() { sessions_.erase(std::next(sessions_.begin()), sessions_.end()); }

}  // namespace gemmsmith
