#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "cli/exit.h"
#include "cli/outputs.h"
#include "cli/run.h"
#include "corpus/text_shards.h"
#include "corpus/tokenizer.h"

namespace gemmsmith {

namespace {

// Tokens of each kernel and of each prompt, sorted.
struct TokenCounts {
  std::vector<int64_t> kernels, prompts;
};

Result<PieceCounts> PiecesOf(const CorpusTokenizerCommand& command) {
  PieceCounts pieces;
  RETURN_IF_ERROR(ForEachText(command.texts, [&](const TextExample& example) {
    pieces.Add(example.prompt);
    pieces.Add(example.text);
    return OkStatus();
  }));
  if (pieces.counts().empty()) return NotFound("the shards hold no text");
  return pieces;
}

Result<TokenCounts> CountTokens(const CorpusTokenizerCommand& command, const Tokenizer& tokenizer) {
  TokenCounts counts;
  RETURN_IF_ERROR(ForEachText(command.texts, [&](const TextExample& example) {
    counts.kernels.push_back(int64_t(tokenizer.Encode(example.text).size()));
    counts.prompts.push_back(int64_t(tokenizer.Encode(example.prompt).size()));
    return OkStatus();
  }));
  std::sort(counts.kernels.begin(), counts.kernels.end());
  std::sort(counts.prompts.begin(), counts.prompts.end());
  return counts;
}

// Of sorted counts the one that this share of them does not exceed.
std::string QuantileText(const std::vector<int64_t>& sorted, double share) {
  return CountText(sorted[std::min(sorted.size() - 1, size_t(share * double(sorted.size())))]);
}

std::string PrintText(const CorpusTokenizerCommand& command, const Tokenizer& tokenizer, const TokenCounts& counts) {
  const std::string fewer =
      tokenizer.words() < command.words ? fmt::format(" of {} (no pair is left)", CountText(command.words)) : "";
  return fmt::format(
      "{}{} tokens from {}; a kernel has {} (median), {} (p99), at most {}; a prompt {} to {}\n  tokenizer  {}\n",
      CountText(tokenizer.words()), fewer, Plural(int64_t(counts.kernels.size()), "text"),
      QuantileText(counts.kernels, 0.5), QuantileText(counts.kernels, 0.99), CountText(counts.kernels.back()),
      CountText(counts.prompts.front()), CountText(counts.prompts.back()), command.output.string());
}

}  // namespace

Result<int> Run(const CorpusTokenizerCommand& command) {
  RETURN_IF_ERROR(CheckOutput(command.output));
  ASSIGN_OR_RETURN(const PieceCounts pieces, PiecesOf(command));
  const Tokenizer tokenizer = Tokenizer::Train(pieces, command.words);
  ASSIGN_OR_RETURN(const TokenCounts counts, CountTokens(command, tokenizer));
  RETURN_IF_ERROR(WriteTokenizer(tokenizer, command.output));
  RETURN_IF_ERROR(WriteOut(PrintText(command, tokenizer, counts)));
  return kExitDone;
}

}  // namespace gemmsmith
