#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <numeric>

#include "cli/exit.h"
#include "cli/problems.h"
#include "cli/run.h"
#include "cli/words.h"
#include "corpus/text_prompt.h"
#include "corpus/text_samples.h"
#include "corpus/text_training.h"
#include "policy/train/trainer_library.h"

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

}  // namespace

Result<int> Run(const CorpusSampleCommand& command) {
  ASSIGN_OR_RETURN(const Tokenizer tokenizer, ReadTokenizer(command.tokenizer));
  ASSIGN_OR_RETURN(const PolicyModel model, ReadModel(command.model, Fingerprint(tokenizer)));
  ASSIGN_OR_RETURN(const std::vector<Gemm> problems, LoadProblems(command.shapes, command.layouts, {}));
  ASSIGN_OR_RETURN(
      const std::unique_ptr<Trainer> trainer,
      OpenTorchTrainer(model.config, command.trainer, command.bf16 ? ProductType::kBf16 : ProductType::kF32));
  RETURN_IF_ERROR(PutModel(model, *trainer));
  ASSIGN_OR_RETURN(const std::vector<SampledText> texts,
                   trainer->Sample(RequestOf(command, problems, tokenizer, model.config.positions)));
  RETURN_IF_ERROR(WriteSamples(SamplesOf(texts, problems, tokenizer), command.output));
  size_t finished = 0, tokens = 0;
  for (const SampledText& text : texts) finished += text.is_finished ? 1 : 0, tokens += text.words.size();
  RETURN_IF_ERROR(WriteOut(fmt::format("{} of {} finished, {} tokens\n  kernels  {}\n", finished,
                                       Plural(int64_t(texts.size()), "kernel"), CountText(int64_t(tokens)),
                                       command.output.string())));
  return kExitDone;
}

}  // namespace gemmsmith
