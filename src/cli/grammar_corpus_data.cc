// The grammar of corpus, continued: data from sources of others.
#include "cli/grammar.h"

namespace gemmsmith {

namespace {

void AddCorpusCollect(Grammar& grammar, Verb* corpus) {
  CorpusCollectCommand* command = grammar.New<CorpusCollectCommand>();
  Verb* verb = grammar.NewVerb(corpus, "collect", "CUDA sources and pages, each with origin and licence", command);
  AddSources(verb, &command->sources, "trees, archives (.whl, .zip, .tar, .tar.gz), saved pages").Required();
  Value(verb, "--licenses", "NAME,...", "permissive, unknown, or SPDX names [permissive]", &command->licenses,
        LicenseChoice::Parse);
  Value(verb, "-o,--output", "DIR", "shards of files; further sources add theirs", &command->output, ReadPath)
      .Required();
  verb->AddFooter("Example: gemmsmith corpus collect nvidia_cutlass-4.2.0.0-py3-none-any.whl --output files");
}

void AddCorpusClean(Grammar& grammar, Verb* corpus) {
  CorpusCleanCommand* command = grammar.New<CorpusCleanCommand>();
  Verb* verb = grammar.NewVerb(corpus, "clean", "cuts files into snippets, none of them twice", command);
  Value(verb, "TEXTS", "", "folder of corpus collect", &command->texts, ReadPath).Required();
  Value(verb, "-o,--output", "DIR", "shards of snippets; the same command goes on there", &command->output, ReadPath)
      .Required();
  verb->AddFooter("Example: gemmsmith corpus clean files --output snippets");
}

void AddCorpusInstruct(Grammar& grammar, Verb* corpus) {
  CorpusInstructCommand* command = grammar.New<CorpusInstructCommand>();
  Verb* verb = grammar.NewVerb(corpus, "instruct", "a language model words the instruction of each snippet", command);
  Value(verb, "TEXTS", "", "folder of corpus clean", &command->texts, ReadPath).Required();
  Value(verb, "--endpoint", "URL", "OpenAI-compatible [$OPENAI_BASE_URL or http://127.0.0.1:8080/v1]",
        &command->endpoint, ReadText);
  Value(verb, "--model", "NAME", "of that endpoint [the first that it lists]", &command->model, ReadText);
  Value(verb, "--cassette", "DIR", "exchanges of an earlier run answer instead", &command->cassette, ReadPath);
  Value(verb, "-o,--output", "DIR", "shards of texts, and the exchanges; the same command goes on there",
        &command->output, ReadPath)
      .Required();
  verb->AddFooter("Example: gemmsmith corpus instruct snippets --output instructed");
  grammar.OnceParsed(verb, [verb, command]() -> Parsed {
    if (!command->cassette.empty() && (verb->IsGiven("--endpoint") || verb->IsGiven("--model")))
      return NoCommand{kExitWrongUse, "--cassette goes without --endpoint and --model: it names its model"};
    return Command(*command);
  });
}

void AddCorpusRetrieve(Grammar& grammar, Verb* corpus) {
  CorpusRetrieveCommand* command = grammar.New<CorpusRetrieveCommand>();
  Verb* verb = grammar.NewVerb(corpus, "retrieve", "texts with an instruction get a context: triplets", command);
  Value(verb, "TEXTS", "", "folder of corpus clean or instruct", &command->texts, ReadPath).Required();
  Value(verb, "--documents", "DIR", "snippets that contexts are taken from [TEXTS]", &command->documents, ReadPath);
  Value(verb, "-o,--output", "DIR", "shards of triplets; the same command goes on there", &command->output, ReadPath);
  Value(verb, "--query", "WORDS", "print what these words find instead", &command->query, ReadText);
  verb->AddFooter(
      "Examples: gemmsmith corpus retrieve snippets --output triplets\n"
      "          gemmsmith corpus retrieve snippets --query 'copy a tile to shared memory'");
  grammar.OnceParsed(verb, [command]() -> Parsed {
    if (command->output.empty() == command->query.empty())
      return NoCommand{kExitWrongUse, "corpus retrieve needs --output DIR or --query WORDS, one of them"};
    return Command(*command);
  });
}

void AddCorpusStats(Grammar& grammar, Verb* corpus) {
  CorpusStatsCommand* command = grammar.New<CorpusStatsCommand>();
  Verb* verb = grammar.NewVerb(corpus, "stats", "what the texts of any stage are made of", command);
  AddSources(verb, &command->texts, "shards of collect, clean, instruct or retrieve, or folders").Required();
  AddJson(verb, &command->json);
  verb->AddFooter("Example: gemmsmith corpus stats snippets");
}

}  // namespace

void AddCorpusDataVerbs(Grammar& grammar, Verb* corpus) {
  AddCorpusCollect(grammar, corpus);
  AddCorpusClean(grammar, corpus);
  AddCorpusInstruct(grammar, corpus);
  AddCorpusRetrieve(grammar, corpus);
  AddCorpusStats(grammar, corpus);
}

}  // namespace gemmsmith
