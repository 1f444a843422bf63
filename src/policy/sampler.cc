#include "policy/sampler.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

#include "base/all_cores.h"
#include "policy/contexts.h"

namespace gemmsmith {

namespace {

// Branches that share the products of a step: enough rows that reading the weights costs little, and so few that four
// cores have work where there are not many in all. Nothing of the machine, so that all of them draw the same plans.
size_t RequestsAtOnce(size_t requests, int plans) {
  constexpr size_t kFewest = 32, kMost = 128, kParts = 4;
  const size_t branches = std::clamp(requests * size_t(plans) / kParts, kFewest, kMost);
  return std::max<size_t>(1, branches / size_t(plans));
}

int LongestPlan() {
  size_t longest = 0;
  for (const Family& family : Families()) longest = std::max(longest, 1 + family.parameters.size());
  return int(longest);
}

// A mask's answers by prefix: the branches of one request have many in common.
class RememberedMask {
 public:
  explicit RememberedMask(const PlanMask& mask) : mask_(mask) {}
  const AllowedWords& AllowedAfter(const PlanPrefix& prefix) {
    const auto [found, is_new] =
        known_.try_emplace({prefix.has_family() ? int(prefix.given()) : -1, prefix.plan()}, AllowedWords());
    if (is_new) found->second = mask_.AllowedAfter(prefix);
    return found->second;
  }

 private:
  const PlanMask& mask_;
  std::map<std::pair<int, Plan>, AllowedWords> known_;
};

struct Branch {
  PlanPrefix prefix;
  double log_probability = 0;
  Random random;
};

// Some requests, whose branches go on word by word together.
class Sampling {
 public:
  Sampling(const PolicyModel& model, std::span<const SampleRequest> requests, size_t first_request,
           const SampleOptions& options)
      : options_(options), inference_(model, ContextsOf(requests), options.plans, LongestPlan()) {
    for (size_t i = 0; i < requests.size(); ++i) {
      masks_.emplace_back(*requests[i].mask);
      branches_.emplace_back();
      const Random random = Random(options.seed).Fork(fmt::format("plans of request {}", first_request + i));
      for (int branch = 0; branch < options.plans; ++branch)
        branches_.back().push_back({{}, 0, random.Fork(fmt::format("{}", branch))});
    }
  }

  std::vector<std::vector<SampledPlan>> Run() {
    std::vector<NextWord> words;
    for (size_t request = 0; request < branches_.size(); ++request)
      for (size_t branch = 0; branch < branches_[request].size(); ++branch)
        Extend(int(request), int(branch), inference_.AfterContext(int(request)), words);
    while (!words.empty()) {
      inference_.Append(words);
      std::vector<NextWord> next;
      for (size_t row = 0; row < words.size(); ++row)
        Extend(words[row].context, words[row].branch, inference_.AfterWord(int(row)), next);
      words = std::move(next);
    }
    return Plans();
  }

 private:
  static std::vector<std::vector<Token>> ContextsOf(std::span<const SampleRequest> requests) {
    std::vector<std::vector<Token>> contexts;
    for (const SampleRequest& request : requests) contexts.push_back(request.context);
    return contexts;
  }

  // Draws the branch's next word. The last one of a plan need not be read by the model.
  void Extend(int request, int index, std::span<const float> state, std::vector<NextWord>& words) {
    Branch& branch = branches_[size_t(request)][size_t(index)];
    const AllowedWords& allowed = masks_[size_t(request)].AllowedAfter(branch.prefix);
    if (allowed.words.empty()) return;
    const Token token =
        allowed.words.size() == 1 ? allowed.words[0] : Draw(branch, allowed, inference_.Logits(state, allowed.words));
    branch.prefix.Take(token);
    if (!branch.prefix.IsWhole()) words.push_back({request, index, token});
  }

  Token Draw(Branch& branch, const AllowedWords& allowed, std::vector<float> logits) const {
    for (size_t i = 0; i < logits.size(); ++i) logits[i] += allowed.beliefs[i];
    const double largest = *std::max_element(logits.begin(), logits.end());
    std::vector<double> weights;
    for (const float logit : logits) weights.push_back(std::exp((logit - largest) / options_.temperature));
    const size_t drawn = branch.random.Choose(weights);
    branch.log_probability += std::log(weights[drawn] / std::accumulate(weights.begin(), weights.end(), 0.0));
    return allowed.words[drawn];
  }

  std::vector<std::vector<SampledPlan>> Plans() const {
    std::vector<std::vector<SampledPlan>> plans;
    for (const std::vector<Branch>& branches : branches_) {
      plans.emplace_back();
      for (const Branch& branch : branches)
        if (branch.prefix.IsWhole()) plans.back().push_back({branch.prefix.plan(), branch.log_probability});
    }
    return plans;
  }

  const SampleOptions& options_;
  Inference inference_;
  std::vector<RememberedMask> masks_;
  std::vector<std::vector<Branch>> branches_;
};

}  // namespace

Status CheckRoomForContexts(const PolicyModel& model) {
  const int needed = LongestContext() + LongestPlan();
  if (needed <= model.config.positions) return OkStatus();
  return InvalidArgument(fmt::format("the policy reads {} words, a context with a plan may have {}: train a larger one",
                                     model.config.positions, needed));
}

std::vector<std::vector<SampledPlan>> SamplePlans(const PolicyModel& model, std::span<const SampleRequest> requests,
                                                  const SampleOptions& options) {
  std::vector<std::vector<SampledPlan>> plans(requests.size());
  const size_t at_once = RequestsAtOnce(requests.size(), options.plans);
  ForEachOnAllCores((requests.size() + at_once - 1) / at_once, [&](size_t part) {
    const size_t first = part * at_once, count = std::min(at_once, requests.size() - first);
    auto of_part = Sampling(model, requests.subspan(first, count), first, options).Run();
    std::move(of_part.begin(), of_part.end(), plans.begin() + long(first));
  });
  return plans;
}

}  // namespace gemmsmith
