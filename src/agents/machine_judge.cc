#include "agents/machine_judge.h"

#include <fmt/format.h>

#include <algorithm>

#include "archive/sound_trial.h"
#include "base/unpredictable.h"
#include "gpu/gpu.h"
#include "harness/harness_text.h"
#include "workflow/instrument.h"
#include "workflow/recordings.h"

namespace gemmsmith {
namespace {

constexpr size_t kMaxLogBytes = 8192;

JudgeResult Failed(const Status& status) { return {.state = JudgeState::kFailed, .why = status.message()}; }

}  // namespace

Result<std::unique_ptr<MachineJudge>> MachineJudge::Open(const MachineJudgeOptions& options) {
  std::unique_ptr<MachineJudge> judge(new MachineJudge());
  judge->campaign_ = options.campaign;
  judge->seed_ = UnpredictableSeed();
  RETURN_IF_ERROR(judge->FindDevice(options.device));
  judge->evaluators_.resize(judge->gpus_.size());
  ASSIGN_OR_RETURN(judge->archive_, OpenArchive(options.archive));
  judge->compiler_ = OpenCompiler();
  judge->sources_ = OpenSourceCompiler();
  return judge;
}

Status MachineJudge::FindDevice(const std::string& device) {
  if (device != "all" && !AsksForAGpu(device)) {
    ASSIGN_OR_RETURN(device_, gemmsmith::FindDevice(device));
    why_no_gpu_ = fmt::format("this judge was started with --device {}, which uses no GPU", device);
    is_recorded_ = true;
    return OkStatus();
  }
  const Result<std::vector<int>> gpus = FindGpus(device);
  if (!gpus.ok()) {
    if (device != "auto") return gpus.status();
    why_no_gpu_ = fmt::format("no GPU here ({})", gpus.status().message());
    const std::vector<RecordingPlace> recorded = FindReplayable();
    is_recorded_ = !recorded.empty();
    ASSIGN_OR_RETURN(device_, gemmsmith::FindDevice(is_recorded_ ? recorded.front().key : KnownDevices().front().key));
    return OkStatus();
  }
  ASSIGN_OR_RETURN(const std::vector<GpuIdentity> all, ListGpus());
  for (const GpuIdentity& gpu : all) {
    if (std::find(gpus->begin(), gpus->end(), gpu.ordinal) == gpus->end()) continue;
    if (!gpus_.empty() && gpu.device.key != device_.key)
      return Unavailable(
          fmt::format("the GPUs are an {} and an {}: name one by --device gpu:N", device_.name, gpu.device.name));
    device_ = gpu.device;
    gpus_.push_back(gpu.ordinal);
  }
  return OkStatus();
}

std::string MachineJudge::identity() const { return fmt::format("{} {}", device_.key, HarnessIdentity()); }

Setting MachineJudge::SettingHere() const {
  Setting setting{.device_key = device_.key, .device_name = device_.name, .harness = std::string(HarnessIdentity())};
  if (compiler_.ok()) setting.toolchain = (*compiler_)->Identity();
  return setting;
}

EvaluationRequest MachineJudge::RequestFor(const JudgeRequest& request) const {
  const ClockSet clocks = request.protocol == Protocol::kShort ? ClockSet{Clock::kDeviceCold, Clock::kOffline}
                                                               : ClockSet{Clock::kDeviceCold};
  return {{.gemm = request.gemm,
           .protocol = request.protocol,
           .clocks = clocks,
           .seed = seed_,
           .counters = request.counters},
          request.subject};
}

Result<PreparedCandidate> MachineJudge::PrepareHere(const EvaluationRequest& request) {
  RETURN_IF_ERROR(compiler_.status());
  if (!IsPlan(request.subject)) RETURN_IF_ERROR(sources_.status());
  return gemmsmith::Prepare(request, device_, **compiler_, IsPlan(request.subject) ? nullptr : sources_->get());
}

std::variant<JudgeResult, Candidate> MachineJudge::Prepare(const JudgeRequest& asked) {
  const EvaluationRequest request = RequestFor(asked);
  Result<PreparedCandidate> prepared = PrepareHere(request);
  if (!prepared.ok()) return Failed(prepared.status());
  if (prepared->ended) {
    JudgeResult result = Stored(request, *std::move(prepared->ended), SettingHere());
    if (!prepared->compilation.succeeded) result.compiler_log = prepared->compilation.log.substr(0, kMaxLogBytes);
    return result;
  }
  if (gpus_.empty()) return WithoutGpu(request, *prepared);
  return Candidate{request, *std::move(prepared)};
}

JudgeResult MachineJudge::WithoutGpu(const EvaluationRequest& request, const PreparedCandidate& prepared) {
  if (std::optional<JudgeResult> replayed = Replayed(request)) return *std::move(replayed);
  JudgeResult result{.state = JudgeState::kUntimed};
  result.why = why_no_gpu_;
  result.outcome.facts = prepared.compilation.binary.facts;
  if (prepared.source)
    result.outcome.recipe = Print(prepared.source->recipe);
  else
    result.why += ", and no recording has this plan on this problem";
  return result;
}

std::optional<JudgeResult> MachineJudge::Replayed(EvaluationRequest request) {
  if (!is_recorded_ || !IsPlan(request.subject) || request.counters) return std::nullopt;
  std::call_once(replay_once_, [this] {
    if (Result<std::shared_ptr<const Recording>> recording = LoadRecording(device_.key); recording.ok())
      recording_ = *std::move(recording);
  });
  if (recording_ == nullptr) return std::nullopt;
  // In the protocol that was asked for or a more careful one; else in the one that was recorded.
  const Trial* trial = recording_->Find(request.gemm, request.plan(), request.protocol);
  if (trial == nullptr) trial = recording_->Find(request.gemm, request.plan());
  if (trial == nullptr) return std::nullopt;
  request.protocol = trial->outcome.protocol;
  Result<Outcome> outcome = MakeReplayEvaluator(recording_)->Evaluate(request, {});
  if (!outcome.ok()) return std::nullopt;
  return JudgeResult{
      .outcome = *std::move(outcome), .setting = recording_->setting(), .recorded_date = recording_->Date()};
}

JudgeResult MachineJudge::Stored(const EvaluationRequest& request, Outcome outcome, const Setting& setting) {
  Trial trial{.gemm = request.gemm,
              .subject = SubjectOf(request.subject),
              .outcome = std::move(outcome),
              .setting = setting,
              .seed = request.seed,
              .unix_ms = UnixMsNow(),
              .campaign = campaign_};
  if (const Status sound = CheckTimes(trial.outcome); !sound.ok()) return Failed(sound);
  if (const Status stored = archive_->Add(trial); !stored.ok()) return Failed(stored);
  return {.outcome = std::move(trial.outcome), .setting = setting};
}

std::vector<JudgeResult> MachineJudge::Time(size_t gpu, std::vector<Candidate> candidates) {
  std::unique_ptr<Evaluator>& evaluator = evaluators_[gpu];
  if (evaluator == nullptr) {
    Result<std::unique_ptr<Evaluator>> opened = MakeIsolatedEvaluator({.gpu_ordinal = gpus_[gpu]});
    if (!opened.ok()) return std::vector(candidates.size(), Failed(opened.status()));
    evaluator = *std::move(opened);
  }
  Setting setting = evaluator->setting();
  setting.toolchain = SettingHere().toolchain;
  std::vector<Result<Outcome>> outcomes = evaluator->EvaluateTogether(candidates);
  std::vector<JudgeResult> results;
  for (size_t i = 0; i < candidates.size(); ++i) {
    if (!outcomes[i].ok()) {
      results.push_back(Failed(outcomes[i].status()));
      continue;
    }
    outcomes[i]->compile_seconds = candidates[i].prepared.compilation.seconds;
    results.push_back(Stored(candidates[i].request, *std::move(outcomes[i]), setting));
  }
  return results;
}

}  // namespace gemmsmith
