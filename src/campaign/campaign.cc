#include "campaign/campaign.h"

#include <deque>

#include "base/run_workers.h"
#include "campaign/campaign_worker.h"

namespace gemmsmith {

std::string_view Name(Objective objective) { return objective == Objective::kTime ? "time" : "energy"; }

std::pair<double, double> CostOf(Objective objective, const Trial& trial) {
  return {objective == Objective::kEnergy ? trial.outcome.Joules() : 0, trial.DecidingNs()};
}

Result<CampaignResult> RunCampaign(const CampaignOptions& options, const MakeSearch& make_search,
                                   std::span<Evaluator* const> evaluators, Compiler* compiler, Archive* archive,
                                   StopRule& stop, const std::function<void(const CampaignEvent&)>& on_event) {
  GEMMSMITH_CHECK(!evaluators.empty(), "a campaign without an evaluator");
  Ledger ledger(options, archive, stop, on_event);
  RETURN_IF_ERROR(ledger.FindFinished(evaluators.front()->setting().device_key));
  std::deque<CampaignWorker> workers;
  for (Evaluator* const evaluator : evaluators)
    workers.emplace_back(workers.size(), ledger, make_search, *evaluator, compiler, evaluators.size());
  RunSideBySide(ledger.queue(), workers.size(), [&](size_t worker) { workers[worker].Run(); });
  return ledger.Finish();
}

}  // namespace gemmsmith
