// Many promotions, side by side on the GPUs that are given.
#pragma once

#include <span>
#include <utility>
#include <vector>

#include "campaign/round.h"
#include "ship/challengers.h"
#include "ship/promotion.h"

namespace gemmsmith {

struct PromotionRound {
  std::vector<std::pair<Gemm, Promotion>> promotions;  // each list in the order of the challenges
  std::vector<std::pair<Gemm, Status>> failures;
  size_t left = 0;
  Status failure;  // of the first evaluator that did not go on
};

// The evaluators are of one model.
PromotionRound PromoteAll(const std::vector<Challenge>& challenges, CatalogueOnDisk& catalogue,
                          std::span<Evaluator* const> evaluators, Compiler& compiler, Archive* archive,
                          const std::string& campaign, StopRule& stop, const OnBegin& on_begin);

}  // namespace gemmsmith
