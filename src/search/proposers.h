// The searches of this folder, one factory each; MakeProposer (search/proposer.h) chooses by name.
#pragma once

#include <memory>

#include "search/nvmmh.h"
#include "search/proposer.h"

namespace gemmsmith {

// Every plan of the space in a seeded order.
std::unique_ptr<Proposer> MakeRandomProposer(const SearchContext& context);
// Every plan of the space, the fastest by prediction (program/cost.h) first.
std::unique_ptr<Proposer> MakeRankedProposer(const SearchContext& context);
// Starts at the plans predicted fastest, of several families where those are near each other, then climbs from the best
// measured ones and now and then leaps, each time to where the prediction, corrected by what was measured, is lowest.
std::unique_ptr<Proposer> MakeLocalProposer(const SearchContext& context);
// A population of the best plans so far, begun half by prediction and half at random; children are crossed and mutated
// from tournament winners.
std::unique_ptr<Proposer> MakeEvolutionProposer(const SearchContext& context);
// Learns which values of which axes are fast from what was measured alone (Gaussian process, expected improvement).
std::unique_ptr<Proposer> MakeBayesProposer(const SearchContext& context);
// What NVIDIA's nvMatmulHeuristics suggests, in its order: of the space the plan nearest to each of its configurations,
// and nothing more. Unavailable where AskNvmmh() is.
Result<std::unique_ptr<Proposer>> MakeNvmmhProposer(const SearchContext& context);
// The same for given answers.
std::unique_ptr<Proposer> MakeNvmmhProposer(const SearchContext& context, std::span<const NvmmhConfig> configs);

}  // namespace gemmsmith
