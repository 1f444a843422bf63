// The whole command line, put together and parsed.
#include "cli/grammar.h"

namespace gemmsmith {

namespace {

// What verbs inherit comes before them, what they must not inherit after them; --help names them in this order.
void AddEverything(Grammar& grammar) {
  Verb* root = grammar.root();
  root->set_help_flag("-h,--help", "this text");
  root->set_version_flag("--version", "gemmsmith " GEMMSMITH_VERSION, "the version");
  root->get_formatter()->label("REQUIRED", "");
  root->get_formatter()->label("SUBCOMMAND", "VERB");
  root->get_formatter()->label("Subcommands", "Verbs");
  root->require_subcommand(1);
  root->get_formatter()->column_width(31);
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
  AddMachineVerbs(grammar);
  root->footer(
      "Every verb has its own --help. Exit codes: 0 done, 2 wrong use, 3 this machine or the record\n"
      "lacks something, 4 no candidate passed, 130 interrupted, 1 anything else.");
}

}  // namespace

std::variant<Command, NoCommand> ParseCommandLine(int argc, const char* const* argv) {
  Grammar grammar;
  AddEverything(grammar);
  try {
    grammar.root()->parse(argc, argv);
    return grammar.Chosen();
  } catch (const CLI::CallForHelp&) {
    return NoCommand{kExitDone, grammar.root()->help()};
  } catch (const CLI::CallForVersion&) {
    return NoCommand{kExitDone, grammar.root()->version() + "\n"};
  } catch (const CLI::ParseError& error) {
    return NoCommand{kExitWrongUse, ExplainWrongWords(error, *grammar.root())};
  }
}

}  // namespace gemmsmith
