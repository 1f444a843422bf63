#include "campaign/campaign.h"

#include <deque>
#include <future>

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
  std::vector<std::future<bool>> others;
  for (size_t i = 1; i < lanes.size(); ++i)
    others.push_back(std::async(std::launch::async, [&lane = lanes[i]] { return lane.Run(); }));
  std::vector<bool> go_on = {lanes.front().Run()};
  for (std::future<bool>& other : others) go_on.push_back(other.get());
  // What a lane gave back when the others had ended.
  for (size_t i = 0; i < lanes.size(); ++i)
    if (go_on[i] && ledger.CountLeft() > 0 && !ledger.IsToStop()) lanes[i].Run();
  return ledger.Finish();
}

}  // namespace gemmsmith
