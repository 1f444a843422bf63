// What a search knows before it begins, and the search of a problem that is made of it.
#pragma once

#include <filesystem>
#include <memory>

#include "policy/model.h"
#include "search/experience.h"
#include "search/neighbour_winners.h"
#include "workflow/optimize.h"

namespace gemmsmith {

struct SearchInputs {
  std::string proposer;
  std::shared_ptr<const PolicyModel> policy;  // null where a search proposes
  NeighbourWinners winners;
  Experience experience;
};

// The policy that was asked for; null where another proposer was, or none. Needs no device.
Result<std::shared_ptr<const PolicyModel>> PolicyAskedFor(const OptimizeRequest& request);
// Chooses the proposer where none was asked for: the shipped policy for what it was trained on, else local search.
void ChooseProposer(const OptimizeRequest& request, const Device& device, OptimizeListener& listener,
                    SearchInputs& inputs);
Result<NeighbourWinners> WinnersFor(const OptimizeRequest& request, const Instrument& instrument,
                                    OptimizeListener& listener);
Result<Experience> ExperienceFor(const OptimizeRequest& request, const std::string& proposer,
                                 const Instrument& instrument);

Result<ProblemSearch> SearchFor(const OptimizeRequest& request, const SearchInputs& inputs,
                                const Instrument& instrument, const Gemm& gemm);

}  // namespace gemmsmith
