// Kernels of plans that a search proposes, as samples (text_samples.h): what a text model is compared with.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "corpus/text_samples.h"
#include "search/proposer.h"

namespace gemmsmith {

// Every legal plan whose kernel has a flat form.
std::vector<Plan> LegalFlatPlans(const Gemm& gemm, const Device& device);

struct PlanSampling {
  std::vector<Gemm> problems;
  Device device;
  int count = 0;  // kernels in all; the problems take turns
  uint64_t seed = 1;
  const Experience* experience = nullptr;
  std::function<Result<std::unique_ptr<Proposer>>(const SearchContext& context)> make;
};

// The proposer observes nothing. It chooses from the plans above that a search may choose: worth trying, in screening
// form. NotFound where a problem has too few of them.
Result<std::vector<TextSample>> SamplePlanKernels(const PlanSampling& sampling);

}  // namespace gemmsmith
