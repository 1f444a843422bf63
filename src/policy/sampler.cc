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
  constexpr size_t kMin = 32, kMax = 256, kShare = 4;
  const size_t branches = std::clamp(requests * size_t(plans) / kShare, kMin, kMax);
  return std::max<size_t>(1, branches / size_t(plans));
}

int LongestPlan() {
  size_t longest = 0;
  for (const Family& family : Families()) longest = std::max(longest, 1 + family.axes.size());
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

// Branches of one request that have drawn the same words: the model reads them once, in the first one's place.
struct Bundle {
  int request = 0;
  std::vector<int> branches;
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
    std::vector<Bundle> bundles;
    for (size_t request = 0; request < branches_.size(); ++request) {
      Bundle all{.request = int(request)};
      for (size_t branch = 0; branch < branches_[request].size(); ++branch) all.branches.push_back(int(branch));
      Extend(all, inference_.AfterContext(int(request)), bundles, words);
    }
    while (!words.empty()) {
      inference_.Append(words);
      std::vector<NextWord> next_words;
      std::vector<Bundle> next;
      for (size_t row = 0; row < words.size(); ++row)
        Extend(bundles[row], inference_.AfterWord(int(row)), next, next_words);
      words = std::move(next_words);
      bundles = std::move(next);
    }
    return Plans();
  }

 private:
  static std::vector<std::vector<Token>> ContextsOf(std::span<const SampleRequest> requests) {
    std::vector<std::vector<Token>> contexts;
    for (const SampleRequest& request : requests) contexts.push_back(request.context);
    return contexts;
  }

  // Draws the next word of each of the branches; those that drew the same one go on together. What the model need not
  // read is not read: words behind which there is no choice left.
  void Extend(const Bundle& bundle, std::span<const float> state, std::vector<Bundle>& bundles,
              std::vector<NextWord>& words) {
    RememberedMask& mask = masks_[size_t(bundle.request)];
    std::vector<Branch>& branches = branches_[size_t(bundle.request)];
    const AllowedWords& allowed = mask.AllowedAfter(branches[size_t(bundle.branches[0])].prefix);
    if (allowed.words.empty()) return;
    std::vector<float> logits;
    if (allowed.words.size() > 1) logits = inference_.Logits(state, allowed.words);
    std::map<Token, std::vector<int>> by_word;
    for (const int branch : bundle.branches)
      by_word[logits.empty() ? allowed.words[0] : Draw(branches[size_t(branch)], allowed, logits)].push_back(branch);
    for (auto& [token, of_word] : by_word) {
      PlanPrefix prefix = branches[size_t(of_word[0])].prefix;
      prefix.Take(token);
      const bool is_read = !EndsWithoutChoice(mask, prefix);
      for (const int branch : of_word) branches[size_t(branch)].prefix = prefix;
      if (!is_read) continue;
      if (of_word[0] != bundle.branches[0]) inference_.Fork(bundle.request, bundle.branches[0], of_word[0]);
      words.push_back({bundle.request, of_word[0], token});
      bundles.push_back({bundle.request, std::move(of_word)});
    }
  }

  // Whether there is but one plan behind it; then it is that plan.
  static bool EndsWithoutChoice(RememberedMask& mask, PlanPrefix& prefix) {
    PlanPrefix end = prefix;
    while (!end.IsWhole()) {
      const std::vector<Token>& words = mask.AllowedAfter(end).words;
      if (words.size() != 1) return false;
      end.Take(words[0]);
    }
    prefix = end;
    return true;
  }

  Token Draw(Branch& branch, const AllowedWords& allowed, std::vector<float> logits) const {
    for (size_t i = 0; i < logits.size(); ++i) logits[i] += allowed.log_prior[i];
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
