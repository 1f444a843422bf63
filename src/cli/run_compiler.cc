#include <malloc.h>
#include <unistd.h>

#include "base/all_cores.h"
#include "base/subprocess.h"
#include "cli/run.h"
#include "compile/compiler.h"

namespace gemmsmith {

Result<int> Run(const CompilerCommand&) {
  LowerPriority();  // to judging; whoever asked for the first text may not have
  // The compiler's big blocks stay with this process instead of going back to the system after every text: 22.7 instead
  // of 19.2 kernels a second in one process (16 threads, November 2026).
  mallopt(M_MMAP_THRESHOLD, 1 << 30);
  mallopt(M_TRIM_THRESHOLD, 1 << 30);
  mallopt(M_TOP_PAD, 64 << 20);
  ASSIGN_OR_RETURN(const int out, SeparateStandardOutput());
  ASSIGN_OR_RETURN(const std::unique_ptr<Compiler> compiler, MakeNvrtcCompiler());
  return ServeCompilations(*compiler, STDIN_FILENO, out);
}

}  // namespace gemmsmith
