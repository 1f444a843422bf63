#include "workflow/search_inputs.h"

#include <fmt/format.h>

#include <algorithm>

#include "policy/policy_proposer.h"
#include "workflow/winners.h"

namespace gemmsmith {

namespace {

constexpr std::string_view kOptionOfWeights = "--weights FILE";

Result<std::shared_ptr<const PolicyModel>> ReadPolicy(const std::filesystem::path& weights) {
  ASSIGN_OR_RETURN(PolicyModel model, ReadModel(weights));
  return std::shared_ptr<const PolicyModel>(std::make_shared<PolicyModel>(std::move(model)));
}

// The policy was trained on f16 products in nn and tn with f32 sums.
bool IsTrainedKind(const Gemm& gemm) {
  return gemm.kind.layout.a == Order::kRow && gemm.kind.type == ScalarType::kF16 &&
         gemm.kind.accumulation == Accumulation::kF32;
}

// Null where the shipped policy was not trained on such problems and devices, or cannot be read.
std::shared_ptr<const PolicyModel> PolicyThatKnows(const OptimizeRequest& request, const Device& device,
                                                   OptimizeListener& listener) {
  if (!std::ranges::all_of(request.problems, IsTrainedKind)) return nullptr;
  const Result<std::filesystem::path> weights = ShippedPolicy(kOptionOfWeights);
  if (!weights.ok() || !WasTrainedOn(*weights, device.key)) return nullptr;
  Result<std::shared_ptr<const PolicyModel>> policy = ReadPolicy(*weights);
  if (policy.ok()) return *std::move(policy);
  listener.OnNote(fmt::format("the shipped policy is left out, local search proposes: {}", policy.status().message()));
  return nullptr;
}

std::unique_ptr<StopRule> BudgetOf(const OptimizeRequest& request) {
  std::vector<std::unique_ptr<StopRule>> rules;
  rules.push_back(StopAfterEvaluations(request.budget_evaluations));
  if (request.budget_seconds) rules.push_back(StopAfterSeconds(*request.budget_seconds));
  return StopOnAny(std::move(rules));
}

// A replay can answer only for recorded plans. Where a GPU measures, proposers and winners bring plans of their own.
Result<Space> SpaceFor(const std::string& proposer, const Instrument& instrument, const std::vector<Plan>& winners,
                       const Gemm& gemm) {
  Space space = instrument.SpaceFor(gemm);
  if (!instrument.live()) return space;
  ASSIGN_OR_RETURN(std::vector<Plan> plans, PlansBesideRanked(proposer, gemm, instrument.evaluator->device()));
  plans.insert(plans.end(), winners.begin(), winners.end());
  plans.insert(plans.end(), space.plans().begin(), space.plans().end());
  return Space(std::move(plans));
}

}  // namespace

Result<std::shared_ptr<const PolicyModel>> PolicyAskedFor(const OptimizeRequest& request) {
  if (request.proposer != kPolicyProposer) return std::shared_ptr<const PolicyModel>();
  if (!request.weights.empty()) return ReadPolicy(request.weights);
  ASSIGN_OR_RETURN(const std::filesystem::path weights, ShippedPolicy(kOptionOfWeights));
  return ReadPolicy(weights);
}

void ChooseProposer(const OptimizeRequest& request, const Device& device, OptimizeListener& listener,
                    SearchInputs& inputs) {
  inputs.proposer = request.proposer;
  if (!inputs.proposer.empty()) return;
  inputs.policy = PolicyThatKnows(request, device, listener);
  inputs.proposer = inputs.policy != nullptr ? kPolicyProposer : "local";
}

Result<NeighbourWinners> WinnersFor(const OptimizeRequest& request, const Instrument& instrument,
                                    OptimizeListener& listener) {
  const Device& device = instrument.evaluator->device();
  if (request.winners) return NeighbourWinnersIn(*request.winners, device);
  // A catalogue would tell of shapes that are held out.
  if (!instrument.live() || request.held_out != HeldOut()) return NeighbourWinners();
  Result<NeighbourWinners> shipped = NeighbourWinnersIn(ShippedCatalogues(), device);
  if (shipped.ok()) return shipped;
  listener.OnNote(fmt::format("the shipped kernels are not tried: {}", shipped.status().message()));
  return NeighbourWinners();
}

Result<Experience> ExperienceFor(const OptimizeRequest& request, const std::string& proposer,
                                 const Instrument& instrument) {
  if (proposer != kPolicyProposer) return ExperienceNamed(request.experience, request.held_out);
  if (instrument.live())
    return ExperienceOnGpu(request.experience, instrument.evaluator->device().key, request.held_out);
  return ExperienceOfReplay(request.experience, *instrument.recording, request.held_out);
}

Result<ProblemSearch> SearchFor(const OptimizeRequest& request, const SearchInputs& inputs,
                                const Instrument& instrument, const Gemm& gemm) {
  const Device& device = instrument.evaluator->device();
  // At most half of all candidates, since winners alternate with those of the search.
  std::vector<Plan> winners = inputs.winners.For(gemm, device, size_t(request.budget_evaluations + 1) / 2);
  ASSIGN_OR_RETURN(Space space, SpaceFor(inputs.proposer, instrument, winners, gemm));
  ProblemSearch search{.space = std::make_unique<Space>(std::move(space)), .stop = BudgetOf(request)};
  SearchContext context{.gemm = gemm,
                        .device = device,
                        .space = search.space.get(),
                        .seed = request.seed,
                        .experience = &inputs.experience};
  // A replay would read its own answers.
  if (!instrument.live()) context.forgets = [shape = gemm.shape](const Shape& other) { return other == shape; };
  ASSIGN_OR_RETURN(search.proposer, inputs.policy != nullptr ? MakePolicyProposer(inputs.policy, context)
                                                             : MakeProposer(inputs.proposer, context));
  std::erase_if(winners, [&](const Plan& plan) { return !search.space->Contains(plan); });
  if (!winners.empty()) search.proposer = MakeInterleaved(std::move(winners), std::move(search.proposer));
  return search;
}

}  // namespace gemmsmith
