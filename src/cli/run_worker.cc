#include <signal.h>

#include "cli/run.h"
#include "evaluate/evaluator.h"

namespace gemmsmith {

Result<int> Run(const WorkerCommand& command) {
  // Ctrl-C at a terminal reaches the whole process group: the program decides when its worker ends.
  signal(SIGINT, SIG_IGN);
  return RunWorker(command.gpu);
}

}  // namespace gemmsmith
