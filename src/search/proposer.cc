#include "search/proposer.h"

#include <fmt/format.h>

#include "base/text.h"
#include "search/proposers.h"

namespace gemmsmith {

const std::vector<std::string_view>& ProposerNames() {
  static const std::vector<std::string_view> names = {"random", "ranked", "local", "evolution"};
  return names;
}

Result<std::unique_ptr<Proposer>> MakeProposer(std::string_view name, const SearchContext& context) {
  GEMMSMITH_CHECK(context.space != nullptr, "a proposer needs a space");
  if (name == "random") return MakeRandomProposer(context);
  if (name == "ranked") return MakeRankedProposer(context);
  if (name == "local") return MakeLocalProposer(context);
  if (name == "evolution") return MakeEvolutionProposer(context);
  const std::optional<std::string> nearest = NearestWord(name, ProposerNames());
  return InvalidArgument(fmt::format(
      "unknown proposer \"{}\"; {}", name,
      nearest ? fmt::format("did you mean \"{}\"?", *nearest) : "there are random, ranked, local and evolution"));
}

}  // namespace gemmsmith
