// The embedded policy as a Proposer.
#pragma once

#include <memory>
#include <string_view>

#include "policy/model.h"
#include "search/proposer.h"

namespace gemmsmith {

// Its name where proposers are chosen by name.
inline constexpr std::string_view kPolicyProposer = "policy";

// Plans of the space as the model draws them, the likeliest of a draw first, in the context of what was observed. In
// the end every plan of the space is proposed, whatever the model's logits. InvalidArgument where the model reads fewer
// words than a context may have.
Result<std::unique_ptr<Proposer>> MakePolicyProposer(std::shared_ptr<const PolicyModel> model,
                                                     const SearchContext& context);

}  // namespace gemmsmith
