// The grammar of run, which starts other programs.
#include "cli/grammar.h"

namespace gemmsmith {

void AddRunProgram(Grammar& grammar) {
  RunProgramCommand* command = grammar.New<RunProgramCommand>();
  Verb* verb =
      grammar.NewVerb(grammar.root(), "run", "start a program whose cuBLAS products our kernels take", command);
  AddMany(verb, "PROGRAM", "", "behind --: the program and its arguments", &command->words,
          [](const std::string& word) { return Result<std::string>(word); })
      .TakesAllWords()
      .Required();
  Value(verb, "--record", "FILE", "write which products it calls, and how often", &command->record, ReadPath);
  verb->AddFlag("--record-only", "with --record: cuBLAS does all products", &command->record_only);
  Value(verb, "--overlay", "FILE", "kernels that go before the others: a file, or a folder of DEVICE.kernels",
        &command->overlay, ReadPath);
  verb->AddFlag("--summary", "at the end say on standard error how many products were ours", &command->summary);
  grammar.OnceParsed(verb, [command]() -> Parsed {
    if (command->record_only && command->record.empty())
      return NoCommand{kExitWrongUse, "--record-only goes with --record FILE"};
    return Command(*command);
  });
  verb->AddFooter("Example: gemmsmith run --record job.shapes --summary -- python train.py --steps 10");
}

}  // namespace gemmsmith
