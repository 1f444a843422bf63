#include <signal.h>
#include <unistd.h>

#include "base/subprocess.h"
#include "cli/run.h"
#include "compile/compiler.h"

namespace gemmsmith {

Result<int> Run(const CompilerCommand&) {
  // Ctrl-C at a terminal reaches the whole process group: the program decides when its compilers end.
  signal(SIGINT, SIG_IGN);
  ASSIGN_OR_RETURN(const int out, TakeStandardOutput());
  ASSIGN_OR_RETURN(const std::unique_ptr<Compiler> compiler, MakeNvrtcCompiler());
  return ServeCompilations(*compiler, STDIN_FILENO, out);
}

}  // namespace gemmsmith
