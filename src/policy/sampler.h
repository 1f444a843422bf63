// Plans drawn from the model, under masks.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "policy/inference.h"
#include "policy/plan_mask.h"

namespace gemmsmith {

struct SampledPlan {
  Plan plan;
  double log_probability = 0;  // of its words among those that the mask allowed, at the temperature
};

struct SampleRequest {
  std::vector<Token> context;  // a document up to "candidate"
  const PlanMask* mask = nullptr;
};

struct SampleOptions {
  int plans = 16;          // of each request
  double temperature = 1;  // below 1: nearer to the likeliest
  uint64_t seed = 0;
};

// Whether the model reads enough words for the largest context there is (contexts.h) and a plan behind it.
Status CheckRoomForContexts(const PolicyModel& model);

// By request, drawn independently: a plan may come twice. None for a request whose mask has no plan at all. Requests
// are shared among the cores; the same seed gives the same plans on every number of them.
std::vector<std::vector<SampledPlan>> SamplePlans(const PolicyModel& model, std::span<const SampleRequest> requests,
                                                  const SampleOptions& options);

}  // namespace gemmsmith
