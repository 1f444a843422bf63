// The grammar of corpus: a language model of kernels and its data.
#include <fmt/format.h>

#include "cli/grammar.h"
#include "corpus/tokenizer.h"
#include "policy/few_bits.h"
#include "policy/policy_proposer.h"

namespace gemmsmith {

namespace {

Result<int> ReadWeightBits(std::string_view text) {
  ASSIGN_OR_RETURN(const long long bits, ReadIntegerIn(text, kFewestBits, kMostBits));
  return int(bits);
}

Result<int> ReadWordCount(std::string_view text) {
  ASSIGN_OR_RETURN(const long long words, ReadIntegerIn(text, Tokenizer::kFewestWords, Tokenizer::kMostWords));
  return int(words);
}

Result<int> ReadContrast(std::string_view text) {
  if (text != "0" && text != "2") return InvalidArgument(fmt::format("'{}' is neither 2 nor 0", text));
  return text == "2" ? 2 : 0;
}

void AddCorpusFlat(Grammar& grammar, Verb* corpus) {
  CorpusFlatCommand* command = grammar.New<CorpusFlatCommand>();
  Verb* verb = grammar.NewVerb(corpus, "flat", "flat kernels of random plans, as texts to train on", command);
  Value(verb, "--shapes", "SET|FILE|SHAPE,...", "of which problems", &command->shapes, ReadShapeWords).Required();
  Value(verb, "--layouts", "nn,tn", "layouts; also col-row, col-col [nn,tn]", &command->layouts, ReadLayouts);
  Value(verb, "--types", "f16,bf16", "element types [f16]", &command->types, ReadTypes);
  Value(verb, "--random-shapes", "N", "and so many shapes drawn at random [0]", &command->random_shapes, ReadCount);
  Value(verb, "--count", "N", "texts, no two alike [5000]", &command->count, ReadCount);
  Value(verb, "--hold-out", "RULE", "keep shapes out: sizes of m, n or k, offgrid, or standard", &command->held_out,
        ParseHeldOut);
  AddKnownDevice(verb, &command->device);
  Value(verb, "--contrast", "2|0", "other kernels that every other prompt shows [2]", &command->contrast, ReadContrast);
  AddSeed(verb, &command->seed);
  Value(verb, "-o,--output", "DIR", "shards of texts; the same command goes on there", &command->output, ReadPath)
      .Required();
  verb->AddFooter("Example: gemmsmith corpus flat --shapes paper1000 --hold-out standard --output texts");
}

void AddCorpusTokenizer(Grammar& grammar, Verb* corpus) {
  CorpusTokenizerCommand* command = grammar.New<CorpusTokenizerCommand>();
  Verb* verb = grammar.NewVerb(corpus, "tokenizer", "learns the tokens of texts", command);
  AddSources(verb, &command->texts, "shards of texts, or folders of them").Required();
  Value(verb, "--words", "N", "tokens, at most [8192]", &command->words, ReadWordCount);
  Value(verb, "-o,--output", "FILE", "in the form of Hugging Face's tokenizer.json", &command->output, ReadPath)
      .Required();
  verb->AddFooter("Example: gemmsmith corpus tokenizer texts --output tokenizer.json");
}

void AddTrainer(Verb* verb, std::string* device, bool* bf16) {
  Value(verb, "--on", "DEVICE", "what computes: cpu, cuda (every GPU), cuda:N, cuda:0,cuda:1 [cpu]", device,
        ReadTrainingDevice);
  verb->AddFlag("--bf16", "matrix products in bf16", bf16);
}

void AddCorpusTrain(Grammar& grammar, Verb* corpus) {
  CorpusTrainCommand* command = grammar.New<CorpusTrainCommand>();
  Verb* verb = grammar.NewVerb(corpus, "train", "train a text model; needs libtorch (tools/torch_trainer)", command);
  AddSources(verb, &command->texts, "shards of texts, or folders of them").Required();
  Value(verb, "--tokenizer", "FILE", "of corpus tokenizer", &command->tokenizer, ReadPath).Required();
  Value(verb, "--from", "FILE", "weights to begin with, of this tokenizer [new ones]", &command->from, ReadPath);
  Value(verb, "--steps", "N", "[2000]", &command->steps, ReadCount);
  Value(verb, "--batch", "N", "texts a step [64]", &command->batch, ReadCount);
  Value(verb, "--learning-rate", "X", "at its peak [0.001]", &command->learning_rate, ReadLearningRate);
  AddTrainer(verb, &command->device, &command->bf16);
  AddSeed(verb, &command->seed);
  Value(verb, "-o,--output", "DIR", "checkpoint, log and weights; the same command goes on there", &command->output,
        ReadPath)
      .Required();
  verb->AddFooter("Example: gemmsmith corpus train texts --tokenizer tokenizer.json --on cuda:0 --bf16 --output model");
}

// The model, and what it writes for.
template <class TextCommand>
void AddModelAndProblems(Verb* verb, TextCommand* command) {
  Value(verb, "MODEL", "", "weights.safetensors of corpus train", &command->model, ReadPath);
  Value(verb, "--tokenizer", "FILE", "the one it was trained with", &command->tokenizer, ReadPath);
  Value(verb, "--shapes", "SET|FILE|SHAPE,...", "for which problems", &command->shapes, ReadShapeWords).Required();
  Value(verb, "--layouts", "nn,tn", "layouts; also col-row, col-col [nn,tn]", &command->layouts, ReadLayouts);
}

std::optional<NoCommand> LacksModel(const Verb& verb) {
  for (const char* word : {"MODEL", "--tokenizer"})
    if (!verb.IsGiven(word)) return NoCommand{kExitWrongUse, fmt::format("{} needs {}", verb.Path(), word)};
  return std::nullopt;
}

Result<std::string> ReadPlanProposer(std::string_view text) {
  constexpr std::string_view kKnown[] = {"random", "ranked", kPolicyProposer};
  if (std::ranges::find(kKnown, text) != std::end(kKnown)) return std::string(text);
  return NoSuchWord("proposer", text, kKnown);
}

std::optional<NoCommand> WrongSampling(const Verb& verb, const CorpusSampleCommand& command) {
  if (command.proposer.empty()) return LacksModel(verb);
  if (!command.model.empty() && command.proposer != kPolicyProposer)
    return NoCommand{kExitWrongUse, fmt::format("--proposer {} takes no MODEL", command.proposer)};
  for (const char* flag : {"--tokenizer", "--temperature", "--top-p", "--on", "--bf16"})
    if (verb.IsGiven(flag)) return NoCommand{kExitWrongUse, fmt::format("{} goes without --proposer", flag)};
  return std::nullopt;
}

void AddCorpusSample(Grammar& grammar, Verb* corpus) {
  CorpusSampleCommand* command = grammar.New<CorpusSampleCommand>();
  Verb* verb = grammar.NewVerb(corpus, "sample", "kernels that a text model writes", command);
  AddModelAndProblems(verb, command);
  Value(verb, "--proposer", "NAME", "of plans of random, ranked or policy instead (MODEL: its weights)",
        &command->proposer, ReadPlanProposer);
  Value(verb, "--count", "N", "kernels in all [16]", &command->count, ReadCount);
  Value(verb, "--temperature", "X", "0: always the likeliest token [1]", &command->temperature, ReadTemperature);
  Value(verb, "--top-p", "X", "of the tokens with this probability together [1]", &command->top_p, ReadTopP);
  AddKnownDevice(verb, &command->device);
  AddTrainer(verb, &command->trainer, &command->bf16);
  AddSeed(verb, &command->seed);
  Value(verb, "-o,--output", "DIR", "kernels and samples.jsonl", &command->output, ReadPath).Required();
  verb->AddFooter(
      "Example: gemmsmith corpus sample model/weights.safetensors --tokenizer tokenizer.json \\\n"
      "             --shapes 512x512x512 --count 8 --output kernels");
  grammar.OnceParsed(verb, [verb, command]() -> Parsed {
    if (const std::optional<NoCommand> wrong = WrongSampling(*verb, *command)) return *wrong;
    return Command(*command);
  });
}

void AddJudge(Verb* verb, std::string* judge, std::filesystem::path* archive) {
  Value(verb, "--device", "WHERE", "what judges: auto, gpu:N or all [auto]", judge, ReadDeviceChoice);
  AddArchive(verb, archive);
}

void AddCorpusShrink(Grammar& grammar, Verb* corpus) {
  CorpusShrinkCommand* command = grammar.New<CorpusShrinkCommand>();
  Verb* verb = grammar.NewVerb(corpus, "shrink", "weights in a few bits each, for files that travel", command);
  Value(verb, "MODEL", "", "weights.safetensors of corpus train or reinforce", &command->model, ReadPath).Required();
  Value(verb, "--bits", "2..8", "a weight; the embedding takes 8 [3]", &command->bits, ReadWeightBits);
  Value(verb, "-o,--output", "FILE", "read wherever weights are", &command->output, ReadPath).Required();
  verb->AddFooter("Example: gemmsmith corpus shrink model/weights.safetensors --output small.safetensors");
}

void AddCorpusJudge(Grammar& grammar, Verb* corpus) {
  CorpusJudgeCommand* command = grammar.New<CorpusJudgeCommand>();
  Verb* verb = grammar.NewVerb(corpus, "judge", "which kernels of corpus sample are right, and how fast", command);
  AddSources(verb, &command->kernels, "folders of corpus sample; judged.jsonl is written there").Required();
  verb->AddFlag("--final", "they are judged: race their winners, a heat for each problem", &command->is_final);
  AddJudge(verb, &command->judge, &command->archive);
  verb->AddFooter(
      "Examples: gemmsmith corpus judge kernels --device all\n"
      "          gemmsmith corpus judge before after --final");
}

void AddCorpusNovel(Grammar& grammar, Verb* corpus) {
  CorpusNovelCommand* command = grammar.New<CorpusNovelCommand>();
  Verb* verb = grammar.NewVerb(corpus, "novel", "which right kernels are those of no plan", command);
  AddSources(verb, &command->kernels, "folders of corpus judge, whose judged.jsonl it completes").Required();
  AddKnownDevice(verb, &command->device);
  verb->AddFooter("Example: gemmsmith corpus novel before after");
}

void AddCorpusCompare(Grammar& grammar, Verb* corpus) {
  CorpusCompareCommand* command = grammar.New<CorpusCompareCommand>();
  Verb* verb = grammar.NewVerb(corpus, "compare", "what several models wrote for the same problems", command);
  AddSources(verb, &command->judged, "folders of corpus judge, or their judged.jsonl; ratios over the first")
      .Required();
  verb->AddFooter("Example: gemmsmith corpus compare before after");
}

void AddCorpusReinforce(Grammar& grammar, Verb* corpus) {
  CorpusReinforceCommand* command = grammar.New<CorpusReinforceCommand>();
  Verb* verb =
      grammar.NewVerb(corpus, "reinforce", "goes on from a text model by measured rewards; needs a GPU", command);
  AddModelAndProblems(verb, command);
  Value(verb, "--hold-out", "RULE", "keep shapes out, as in corpus flat", &command->held_out, ParseHeldOut);
  Value(verb, "--steps", "N", "[25]", &command->steps, ReadCount);
  Value(verb, "--batch", "N", "problems a step, 16 kernels each [16]", &command->batch, ReadCount);
  Value(verb, "--learning-rate", "X", "at its peak [2e-05]", &command->learning_rate, ReadLearningRate);
  Value(verb, "--contrast", "2|0", "earlier kernels that a prompt shows [2]", &command->contrast, ReadContrast);
  AddJudge(verb, &command->judge, &command->archive);
  AddTrainer(verb, &command->trainer, &command->bf16);
  AddSeed(verb, &command->seed);
  Value(verb, "-o,--output", "DIR", "checkpoint, log and weights; the same command goes on there", &command->output,
        ReadPath)
      .Required();
  verb->AddFooter(
      "Example: gemmsmith corpus reinforce model/weights.safetensors --tokenizer tokenizer.json \\\n"
      "             --shapes paper1000/tiny --hold-out standard --on cuda:0 --output reinforced");
  grammar.OnceParsed(verb, [verb, command]() -> Parsed {
    if (const std::optional<NoCommand> wrong = LacksModel(*verb)) return *wrong;
    return Command(*command);
  });
}

}  // namespace

void AddCorpusVerbs(Grammar& grammar) {
  Verb* corpus = grammar.root()->AddVerb("corpus", "a language model of kernels: texts and tokens");
  corpus->NeedOneVerb();
  AddCorpusFlat(grammar, corpus);
  AddCorpusTokenizer(grammar, corpus);
  AddCorpusTrain(grammar, corpus);
  AddCorpusSample(grammar, corpus);
  AddCorpusShrink(grammar, corpus);
  AddCorpusJudge(grammar, corpus);
  AddCorpusNovel(grammar, corpus);
  AddCorpusCompare(grammar, corpus);
  AddCorpusReinforce(grammar, corpus);
  AddCorpusDataVerbs(grammar, corpus);
}

}  // namespace gemmsmith
