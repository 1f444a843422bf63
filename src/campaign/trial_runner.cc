#include "campaign/trial_runner.h"

#include <chrono>

namespace gemmsmith {

TrialRunner::TrialRunner(Evaluator& evaluator, const Compiler* compiler, Archive* archive, std::string campaign)
    : evaluator_(evaluator), archive_(archive), campaign_(std::move(campaign)), setting_(evaluator.setting()) {
  if (compiler != nullptr) setting_.toolchain = compiler->Identity();
}

Result<Trial> TrialRunner::operator()(const EvaluationRequest& request, const PreparedCandidate& candidate) {
  Trial trial{
      .gemm = request.gemm, .plan = request.plan, .setting = setting_, .seed = request.seed, .campaign = campaign_};
  if (candidate.ended) {
    trial.outcome = *candidate.ended;
    trial.outcome.protocol = request.protocol;
  } else {
    ASSIGN_OR_RETURN(trial.outcome, evaluator_.Evaluate(request, candidate));
    if (candidate.compilation.succeeded) trial.outcome.compile_seconds = candidate.compilation.seconds;
  }
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  trial.unix_ms = std::chrono::duration_cast<std::chrono::milliseconds>(now).count();
  if (archive_ != nullptr) RETURN_IF_ERROR(archive_->Add(trial));
  return trial;
}

}  // namespace gemmsmith
