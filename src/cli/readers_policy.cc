// Searches and policies, and how policies are trained.
#include "cli/readers.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>

#include "base/text.h"
#include "search/proposer.h"

namespace gemmsmith {

Result<std::string> ReadProposer(std::string_view text) {
  std::vector<std::string_view> known = ProposerNames();
  known.push_back(kPolicyProposer);
  known.push_back(kLlmProposer);
  if (std::find(known.begin(), known.end(), text) != known.end()) return std::string(text);
  return NoSuchWord("proposer", text, known);
}

Result<PolicyWeights> ReadPolicyWeights(std::string_view text) {
  const size_t equals = text.find('=');
  const std::string_view name = text.substr(0, equals);
  if (equals == text.npos || name.empty() || equals + 1 == text.size() || name.find(',') != name.npos)
    return InvalidArgument(fmt::format("'{}' is not NAME=WEIGHTS, as in policy=policy/weights.safetensors", text));
  const std::vector<std::string_view>& searches = ProposerNames();
  if (std::find(searches.begin(), searches.end(), name) != searches.end())
    return InvalidArgument(fmt::format("'{}' is a search's name: give these weights another one", name));
  return PolicyWeights{std::string(name), text.substr(equals + 1)};
}

Result<TrainingStage> ReadTrainingStage(std::string_view text) {
  if (text == "pretrain") return TrainingStage::kPretrain;
  if (text == "imitate") return TrainingStage::kImitate;
  if (text == "rl") return TrainingStage::kRl;
  return NoSuchWord("stage", text, std::array<std::string_view, 3>{"pretrain", "imitate", "rl"});
}

Result<double> ReadLearningRate(std::string_view text) {
  const std::optional<double> value = ParseDouble(text, std::chars_format::general);
  if (value && *value > 0 && *value < 1) return *value;
  return InvalidArgument(fmt::format("'{}' is no learning rate: above 0, below 1", text));
}

Result<std::string> ReadTrainingDevice(std::string_view text) {
  if (text == "cpu" || text == "cuda") return std::string(text);
  std::set<int> gpus;
  for (const std::string_view name : Split(text, ',')) {
    const Result<int> gpu = name.starts_with("cuda:") ? ReadOrdinal(name.substr(5)) : Result<int>(InvalidArgument(""));
    if (!gpu.ok() || !gpus.insert(*gpu).second)
      return InvalidArgument(
          fmt::format("'{}' is nothing to train on: cpu, cuda (every GPU), cuda:N, or several: cuda:0,cuda:1", text));
  }
  return std::string(text);
}

}  // namespace gemmsmith
