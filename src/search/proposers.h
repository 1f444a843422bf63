// The searches of this folder, one factory each; MakeProposer (search/proposer.h) chooses by name.
#pragma once

#include <memory>

#include "search/proposer.h"

namespace gemmsmith {

// Every plan of the space in a seeded order.
std::unique_ptr<Proposer> MakeRandomProposer(const SearchContext& context);
// Climbs: starts at the default plan or the one nearest to it, tries what neighbours the best plans of the climb, and
// starts again somewhere unseen when those have no untried neighbour.
std::unique_ptr<Proposer> MakeLocalProposer(const SearchContext& context);
// A population of the best plans so far; children are crossed and mutated from tournament winners.
std::unique_ptr<Proposer> MakeEvolutionProposer(const SearchContext& context);

}  // namespace gemmsmith
