#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>
#include <numeric>

#include "base/files.h"
#include "cli/exit.h"
#include "cli/problems.h"
#include "cli/run.h"
#include "cli/words.h"
#include "corpus/text_prompt.h"
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

// Writes the kernels; their lines of samples.jsonl.
Result<std::string> WriteSamples(const CorpusSampleCommand& command, const std::vector<Gemm>& problems,
                                 const Tokenizer& tokenizer, const std::vector<SampledText>& texts) {
  std::string lines;
  for (size_t i = 0; i < texts.size(); ++i) {
    const SampledText& text = texts[i];
    const std::string name = fmt::format("kernel_{:05}.cu", i);
    RETURN_IF_ERROR(WriteFileAtomic(command.output / name, KernelOf(text, tokenizer)));
    const nlohmann::ordered_json line = {
        {"file", name},
        {"problem", Print(problems[i % problems.size()])},
        {"tokens", text.words.size()},
        {"mean_log_probability", std::accumulate(text.logs.begin(), text.logs.end(), 0.0) / double(text.logs.size())},
        {"finished", text.is_finished}};
    lines += line.dump() + "\n";
  }
  return lines;
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
  ASSIGN_OR_RETURN(const std::string lines, WriteSamples(command, problems, tokenizer, texts));
  RETURN_IF_ERROR(WriteFileAtomic(command.output / "samples.jsonl", lines));
  size_t finished = 0, tokens = 0;
  for (const SampledText& text : texts) finished += text.is_finished ? 1 : 0, tokens += text.words.size();
  RETURN_IF_ERROR(WriteOut(fmt::format("{} of {} finished, {} tokens\n  kernels  {}\n", finished,
                                       Plural(int64_t(texts.size()), "kernel"), CountText(int64_t(tokens)),
                                       command.output.string())));
  return kExitDone;
}

}  // namespace gemmsmith
