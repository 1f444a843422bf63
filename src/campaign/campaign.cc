#include "campaign/campaign.h"

#include <deque>
#include <thread>

#include "campaign/lane.h"

namespace gemmsmith {

std::string_view Name(Objective objective) { return objective == Objective::kTime ? "time" : "energy"; }

std::pair<double, double> CostOf(Objective objective, const Outcome& outcome) {
  return {objective == Objective::kEnergy ? outcome.Joules() : 0, outcome.TimeNs()};
}

Result<CampaignResult> RunCampaign(const CampaignOptions& options, const MakeSearch& make_search,
                                   std::span<Evaluator* const> evaluators, Compiler* compiler, Archive* archive,
                                   StopRule& stop, const std::function<void(const CampaignEvent&)>& on_event) {
  GEMMSMITH_CHECK(!evaluators.empty(), "a campaign without an evaluator");
  Ledger ledger(options, archive, stop, on_event);
  RETURN_IF_ERROR(ledger.FindFinished(evaluators.front()->setting().device_key));
  std::deque<Lane> lanes;
  for (Evaluator* const evaluator : evaluators)
    lanes.emplace_back(ledger, make_search, *evaluator, compiler, evaluators.size());
  std::vector<std::thread> threads;
  for (size_t i = 1; i < lanes.size(); ++i) threads.emplace_back([&lane = lanes[i]] { lane.Run(); });
  lanes.front().Run();
  for (std::thread& thread : threads) thread.join();
  return ledger.Finish();
}

}  // namespace gemmsmith
