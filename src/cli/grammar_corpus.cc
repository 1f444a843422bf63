// The grammar of corpus: a language model of kernels and its data.
#include "cli/grammar.h"
#include "corpus/tokenizer.h"

namespace gemmsmith {

namespace {

Result<int> ReadWordCount(std::string_view text) {
  ASSIGN_OR_RETURN(const long long words, ReadIntegerIn(text, Tokenizer::kFewestWords, Tokenizer::kMostWords));
  return int(words);
}

void AddCorpusFlat(Grammar& grammar, Verb* corpus) {
  CorpusFlatCommand* command = grammar.New<CorpusFlatCommand>();
  Verb* verb = grammar.NewVerb(corpus, "flat", "flat kernels of random plans, as texts to train on", command);
  Value(verb, "--shapes", "SET|FILE|SHAPE,...", "of which problems", &command->shapes, ReadShapeWords).Required();
  Value(verb, "--layouts", "nn,tn", "layouts; also col-row, col-col [nn,tn]", &command->layouts, ReadLayouts);
  Value(verb, "--types", "f16,bf16", "element types [f16]", &command->types, ReadTypes);
  Value(verb, "--count", "N", "texts, no two alike [5000]", &command->count, ReadCount);
  Value(verb, "--hold-out", "RULE", "keep shapes out: sizes of m, n or k, offgrid, or standard", &command->held_out,
        ParseHeldOut);
  AddKnownDevice(verb, &command->device);
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

}  // namespace

void AddCorpusVerbs(Grammar& grammar) {
  Verb* corpus = grammar.root()->AddVerb("corpus", "a language model of kernels: texts and tokens");
  corpus->NeedOneVerb();
  AddCorpusFlat(grammar, corpus);
  AddCorpusTokenizer(grammar, corpus);
}

}  // namespace gemmsmith
