#include "search/proposer.h"

#include <fmt/format.h>

#include "base/text.h"
#include "search/proposers.h"

namespace gemmsmith {

const std::vector<std::string_view>& ProposerNames() {
  static const std::vector<std::string_view> names = {"random", "ranked", "local", "evolution", "bayes", "nvmmh"};
  return names;
}

Result<std::unique_ptr<Proposer>> MakeProposer(std::string_view name, const SearchContext& context) {
  GEMMSMITH_CHECK(context.space != nullptr, "a proposer needs a space");
  if (name == "random") return MakeRandomProposer(context);
  if (name == "ranked") return MakeRankedProposer(context);
  if (name == "local") return MakeLocalProposer(context);
  if (name == "evolution") return MakeEvolutionProposer(context);
  if (name == "bayes") return MakeBayesProposer(context);
  if (name == "nvmmh") return MakeNvmmhProposer(context);
  const std::optional<std::string> nearest = NearestWord(name, ProposerNames());
  return InvalidArgument(fmt::format("unknown proposer \"{}\"; {}", name,
                                     nearest ? fmt::format("did you mean \"{}\"?", *nearest)
                                             : "there are random, ranked, local, evolution, bayes and nvmmh"));
}

Result<std::vector<Plan>> PlansBesideRanked(std::string_view name, const Gemm& gemm, const Device& device) {
  if (name != "nvmmh") return std::vector<Plan>();
  ASSIGN_OR_RETURN(const std::vector<NvmmhConfig> configs, AskNvmmh(gemm, device, kMaxNvmmhConfigs));
  return PlansLike(configs, gemm, device);
}

}  // namespace gemmsmith
