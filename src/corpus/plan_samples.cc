#include "corpus/plan_samples.h"

#include <fmt/format.h>

#include "base/text.h"
#include "program/family.h"
#include "program/flat_form.h"

namespace gemmsmith {

namespace {

void AddLegal(Plan& plan, size_t depth, const Gemm& gemm, const Device& device, std::vector<Plan>& plans) {
  const Family& family = GetFamily(plan.family);
  if (depth == family.axes.size()) {
    if (IsLegal(plan, gemm, device)) plans.push_back(plan);
    return;
  }
  for (const int value : family.axes[depth].live_values()) {
    plan.values[depth] = value;
    AddLegal(plan, depth + 1, gemm, device, plans);
  }
}

Space FlatSpace(const Gemm& gemm, const Device& device) {
  std::vector<Plan> plans = LegalFlatPlans(gemm, device);
  std::erase_if(plans, [&](const Plan& plan) {
    return plan != ScreeningForm(plan, device) || !IsWorthTrying(plan, gemm, device);
  });
  return Space(std::move(plans));
}

Result<std::vector<Plan>> ProposedFor(const Gemm& gemm, size_t count, const PlanSampling& sampling) {
  const Space space = FlatSpace(gemm, sampling.device);
  if (space.size() < count)
    return NotFound(fmt::format("{} has {} with a flat form: ask for fewer kernels", Print(gemm),
                                Plural(int64_t(space.size()), "plan")));
  ASSIGN_OR_RETURN(const std::unique_ptr<Proposer> proposer, sampling.make({.gemm = gemm,
                                                                            .device = sampling.device,
                                                                            .space = &space,
                                                                            .seed = sampling.seed,
                                                                            .experience = sampling.experience}));
  return proposer->Propose(int(count));
}

}  // namespace

std::vector<Plan> LegalFlatPlans(const Gemm& gemm, const Device& device) {
  std::vector<Plan> plans;
  Plan plan = DefaultPlan(FamilyId::kDirect);
  AddLegal(plan, 0, gemm, device, plans);
  return plans;
}

Result<std::vector<TextSample>> SamplePlanKernels(const PlanSampling& sampling) {
  const size_t problems = sampling.problems.size();
  std::vector<TextSample> samples(size_t(sampling.count));
  for (size_t first = 0; first < std::min(problems, samples.size()); ++first) {
    const Gemm& gemm = sampling.problems[first];
    ASSIGN_OR_RETURN(const std::vector<Plan> plans,
                     ProposedFor(gemm, (samples.size() - first + problems - 1) / problems, sampling));
    for (size_t i = 0; i < plans.size(); ++i) {
      ASSIGN_OR_RETURN(std::string source, EmitFlat(plans[i], gemm, FlatStyle()));
      samples[first + i * problems] = {.source = std::move(source), .gemm = gemm, .is_finished = true};
    }
  }
  return samples;
}

}  // namespace gemmsmith
