// Many promotions, side by side on all GPUs that are given.
#pragma once

#include <functional>
#include <span>
#include <utility>
#include <vector>

#include "ship/challengers.h"
#include "ship/promotion.h"

namespace gemmsmith {

struct PromotionRound {
  std::vector<std::pair<Gemm, Promotion>> promotions;  // each in the order of the challenges
  std::vector<std::pair<Gemm, Status>> failures;
  size_t left = 0;
  Status world;  // why an evaluator did not go on
};

struct PromotionHooks {
  std::function<bool()> is_over;                            // asked between two races, by many threads
  std::function<void(size_t begun, const Gemm&)> on_begin;  // by one thread at a time
};

// Each evaluator (all are of one model) takes the problems of one shape after the other. One shape may be too large for
// a GPU; of two in a row the machine is the reason, and that evaluator leaves what it has not begun to the others.
PromotionRound PromoteAll(const std::vector<Challenge>& challenges, CatalogueOnDisk& catalogue,
                          std::span<Evaluator* const> evaluators, Compiler& compiler, Archive* archive,
                          const std::string& campaign, const PromotionHooks& hooks);

}  // namespace gemmsmith
