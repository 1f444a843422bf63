// The grammar of optimize --proposer llm.
#include "cli/grammar_writing.h"
#include "cli/grammar.h"

namespace gemmsmith {
namespace {

constexpr const char* kOptions[] = {"--endpoint",      "--model",         "--islands",        "--repairs",
                                    "--answer-tokens", "--budget-tokens", "--budget-dollars", "--price",
                                    "--temperature",   "--documents",     "--cassette"};
// Those of optimize that say nothing to a model that writes.
constexpr const char* kOfPlans[] = {"--weights",   "--experience", "--hold-out", "--winners",
                                    "--objective", "--brief",      "--promote",  "--catalogue",
                                    "--overlay",   "--record",     "--fresh",    "--constant-b"};

}  // namespace

void AddWriting(Verb* verb, WritingCommand* writing) {
  Value(verb, "--endpoint", "URL", "of --proposer llm [$OPENAI_BASE_URL or http://127.0.0.1:8080/v1]",
        &writing->endpoint, ReadText);
  Value(verb, "--model", "NAME", "of that endpoint [the first that it lists]", &writing->model, ReadText);
  Value(verb, "--islands", "N", "conversations side by side, each with sources of its own [4]", &writing->islands,
        ReadIslands);
  Value(verb, "--repairs", "N", "further answers to a verdict that refuses a source [2]", &writing->repairs,
        ReadRepairs);
  Value(verb, "--answer-tokens", "N", "the most tokens of an answer [8192]", &writing->answer_tokens, ReadTokens);
  Value(verb, "--temperature", "T", "0 to 2 [1]", &writing->temperature, ReadTemperature);
  Value(verb, "--budget-tokens", "N", "tokens of questions and answers, a layout", &writing->budget_tokens, ReadTokens);
  Value(verb, "--budget-dollars", "X", "of --price, a layout", &writing->budget_dollars, ReadDollars);
  Value(verb, "--price", "IN,OUT", "dollars for a million tokens of questions and of answers", &writing->price,
        ReadTokenPrice);
  Value(verb, "--documents", "DIR", "snippets of corpus clean; questions quote passages of them", &writing->documents,
        ReadPath);
  Value(verb, "--cassette", "FILE", "a log of exchanges answers: no endpoint, compiler or GPU", &writing->cassette,
        ReadPath);
}

std::optional<NoCommand> WrongWriting(const Verb* verb, const OptimizeCommand& command) {
  if (command.proposer != kLlmProposer) {
    for (const char* option : kOptions)
      if (verb->IsGiven(option)) return NoCommand{kExitWrongUse, fmt::format("{} is for --proposer llm", option)};
    return std::nullopt;
  }
  for (const char* option : kOfPlans)
    if (verb->IsGiven(option)) return NoCommand{kExitWrongUse, fmt::format("{} is not for --proposer llm", option)};
  if (!command.target.shape) return NoCommand{kExitWrongUse, "--proposer llm writes for one shape: MxNxK"};
  if (command.writing.budget_dollars && !command.writing.price)
    return NoCommand{kExitWrongUse, "--budget-dollars needs --price IN,OUT"};
  return std::nullopt;
}

}  // namespace gemmsmith
