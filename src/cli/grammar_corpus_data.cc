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
  AddCorpusStats(grammar, corpus);
}

}  // namespace gemmsmith
