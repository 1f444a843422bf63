#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <numeric>

#include "cli/exit.h"
#include "cli/problems.h"
#include "cli/run.h"
#include "cli/words.h"
#include "corpus/plan_samples.h"
#include "corpus/text_prompt.h"
#include "corpus/text_samples.h"
#include "corpus/text_training.h"
#include "policy/policy_proposer.h"
#include "policy/train/trainer_library.h"
#include "workflow/shipped_data.h"

namespace gemmsmith {

namespace {

TextRequest RequestOf(const CorpusSampleCommand& command, const std::vector<Gemm>& problems, const Tokenizer& tokenizer,
                      int positions) {
  TextRequest request{.most_words = std::min(positions, kMostKernelWords),
                      .end = Token(tokenizer.end()),
                      .temperature = command.temperature,
                      .top_p = command.top_p,
                      .seed = command.seed};
  for (int i = 0; i < command.count; ++i)
    request.prompts.push_back(
        PromptTokens(tokenizer, TextPrompt(problems[size_t(i) % problems.size()], command.device)));
  return request;
}

std::vector<TextSample> SamplesOf(const std::vector<SampledText>& texts, const std::vector<Gemm>& problems,
                                  const Tokenizer& tokenizer) {
  std::vector<TextSample> samples;
  for (const SampledText& text : texts)
    samples.push_back(
        {.source = KernelOf(text, tokenizer),
         .gemm = problems[samples.size() % problems.size()],
         .tokens = int64_t(text.words.size()),
         .mean_log_probability = std::accumulate(text.logs.begin(), text.logs.end(), 0.0) / double(text.logs.size()),
         .is_finished = text.is_finished});
  return samples;
}

Result<std::vector<TextSample>> WrittenByModel(const CorpusSampleCommand& command, const std::vector<Gemm>& problems) {
  ASSIGN_OR_RETURN(const Tokenizer tokenizer, ReadTokenizer(command.tokenizer));
  ASSIGN_OR_RETURN(const PolicyModel model, ReadModel(command.model, Fingerprint(tokenizer)));
  ASSIGN_OR_RETURN(
      const std::unique_ptr<Trainer> trainer,
      OpenTorchTrainer(model.config, command.trainer, command.bf16 ? ProductType::kBf16 : ProductType::kF32));
  RETURN_IF_ERROR(PutModel(model, *trainer));
  ASSIGN_OR_RETURN(const std::vector<SampledText> texts,
                   trainer->Sample(RequestOf(command, problems, tokenizer, model.config.positions)));
  return SamplesOf(texts, problems, tokenizer);
}

Result<std::shared_ptr<const PolicyModel>> PolicyOf(const CorpusSampleCommand& command) {
  std::filesystem::path weights = command.model;
  if (weights.empty()) {
    ASSIGN_OR_RETURN(weights, ShippedPolicy("MODEL"));
  }
  ASSIGN_OR_RETURN(PolicyModel policy, ReadModel(weights));
  return std::make_shared<const PolicyModel>(std::move(policy));
}

// A policy knows of other shapes what it knows in a comparison of searches: nothing of held-out ones.
Result<std::vector<TextSample>> OfPlans(const CorpusSampleCommand& command, const std::vector<Gemm>& problems) {
  PlanSampling sampling{.problems = problems, .device = command.device, .count = command.count, .seed = command.seed};
  if (command.proposer != kPolicyProposer) {
    sampling.make = [&](const SearchContext& context) { return MakeProposer(command.proposer, context); };
    return SamplePlanKernels(sampling);
  }
  ASSIGN_OR_RETURN(const std::shared_ptr<const PolicyModel> policy, PolicyOf(command));
  ASSIGN_OR_RETURN(const Experience experience, ExperienceOnGpu({}, command.device.key, StandardHeldOut()));
  sampling.experience = &experience;
  sampling.make = [&](const SearchContext& context) { return MakePolicyProposer(policy, context); };
  return SamplePlanKernels(sampling);
}

std::string SummaryOf(const CorpusSampleCommand& command, const std::vector<TextSample>& samples) {
  const std::string kernels = Plural(int64_t(samples.size()), "kernel");
  int64_t finished = 0, tokens = 0;
  for (const TextSample& sample : samples) finished += sample.is_finished, tokens += sample.tokens;
  const std::string text = command.proposer.empty()
                               ? fmt::format("{} of {} finished, {} tokens", finished, kernels, CountText(tokens))
                               : fmt::format("{} of plans of family direct", kernels);
  return fmt::format("{}\n  kernels  {}\n", text, command.output.string());
}

}  // namespace

Result<int> Run(const CorpusSampleCommand& command) {
  ASSIGN_OR_RETURN(const std::vector<Gemm> problems, LoadProblems(command.shapes, command.layouts, {}));
  ASSIGN_OR_RETURN(const std::vector<TextSample> samples,
                   command.proposer.empty() ? WrittenByModel(command, problems) : OfPlans(command, problems));
  RETURN_IF_ERROR(WriteSamples(samples, command.output));
  RETURN_IF_ERROR(WriteOut(SummaryOf(command, samples)));
  return kExitDone;
}

}  // namespace gemmsmith
