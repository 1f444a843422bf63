// The whole command line, put together and parsed.
#include "cli/grammar.h"
#include "cli/wrong_words.h"

namespace gemmsmith {

namespace {

// --help names the verbs in this order.
void AddEverything(Grammar& grammar) {
  grammar.root()->NeedOneVerb();
  AddOptimize(grammar);
  AddEvaluate(grammar);
  AddVerify(grammar);
  AddPlanVerbs(grammar);
  AddRecordsVerbs(grammar);
  AddBench(grammar);
  AddPromote(grammar);
  AddCatalogueVerbs(grammar);
  AddReport(grammar);
  AddTrain(grammar);
  AddCompare(grammar);
  AddCorpusVerbs(grammar);
  AddRunProgram(grammar);
  AddAgents(grammar);
  AddMachineVerbs(grammar);
  grammar.root()->AddFooter(  // last: verbs added later would inherit it
      "Every verb has its own --help. Exit codes: 0 done, 2 wrong use, 3 this machine or the record\n"
      "lacks something, 4 no candidate passed, 130 interrupted, 1 anything else.");
}

}  // namespace

std::variant<Command, NoCommand> ParseCommandLine(int argc, const char* const* argv) {
  Grammar grammar;
  AddEverything(grammar);
  const ParsedWords words = grammar.root()->Parse(argc, argv);
  if (words.text) return NoCommand{kExitDone, *words.text};
  if (words.wrong) return NoCommand{kExitWrongUse, ExplainWrongWords(words)};
  return grammar.CommandOf(words.verb);
}

}  // namespace gemmsmith
