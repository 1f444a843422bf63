// The grammar of doctor, and of the verbs by which the program starts itself.
#include "cli/grammar.h"

namespace gemmsmith {

void AddMachineVerbs(Grammar& grammar) {
  DoctorCommand* doctor_command = grammar.New<DoctorCommand>();
  Verb* doctor =
      grammar.NewVerb(grammar.root(), "doctor", "what this machine has, lacks, and how to get it", doctor_command);
  AddArchive(doctor, &doctor_command->archive);
  AddJson(doctor, &doctor_command->json);

  // Started by the evaluator; an empty group hides it from the help.
  WorkerCommand* worker_command = grammar.New<WorkerCommand>();
  Verb* worker =
      grammar.NewVerb(grammar.root(), "worker", "serve the evaluator over standard input and output", worker_command);
  worker->HideFromHelp();
  Value(worker, "--gpu", "N", "ordinal of the GPU", &worker_command->gpu, ReadOrdinal).Required();

  CompilerCommand* compiler_command = grammar.New<CompilerCommand>();
  grammar.NewVerb(grammar.root(), "compiler", "compile what standard input says", compiler_command)->HideFromHelp();

  OnceCommand* once_command = grammar.New<OnceCommand>();
  Verb* once = grammar.NewVerb(grammar.root(), "once", "call candidates that files hold", once_command);
  once->HideFromHelp();
  AddMany(once, "FILE", "", "an encoded call each", &once_command->files, ReadPath).Required();
  Value(once, "--gpu", "N", "ordinal of the GPU", &once_command->gpu, ReadOrdinal).Required();
  Value(once, "--calls", "N", "how often [1]", &once_command->calls, ReadCount);
}

}  // namespace gemmsmith
