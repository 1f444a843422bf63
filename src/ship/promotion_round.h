// Many promotions, side by side on all GPUs that are given.
#pragma once

#include <span>
#include <utility>
#include <vector>

#include "ship/challengers.h"
#include "ship/promotion.h"
#include "ship/shape_lanes.h"

namespace gemmsmith {

struct PromotionRound {
  std::vector<std::pair<Gemm, Promotion>> promotions;  // each in the order of the challenges
  std::vector<std::pair<Gemm, Status>> failures;
  size_t left = 0;
  Status world;  // why an evaluator did not go on
};

// As DealOut(); all evaluators are of one model.
PromotionRound PromoteAll(const std::vector<Challenge>& challenges, CatalogueOnDisk& catalogue,
                          std::span<Evaluator* const> evaluators, Compiler& compiler, Archive* archive,
                          const std::string& campaign, const LaneHooks& hooks);

}  // namespace gemmsmith
