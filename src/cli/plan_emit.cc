#include <fmt/format.h>

#include "base/files.h"
#include "base/text.h"
#include "cli/exit.h"
#include "cli/outputs.h"
#include "cli/run.h"
#include "program/emit.h"
#include "program/legality.h"

namespace gemmsmith {

Result<int> Run(const PlanEmitCommand& command) {
  RETURN_IF_ERROR(CheckOutput(command.output));
  if (const std::vector<std::string> reasons = Check(command.plan, command.gemm, command.device); !reasons.empty()) {
    WriteError(fmt::format("the plan is illegal for {}: {}", Print(command.gemm), Join(reasons, "; ")));
    return kExitNoCandidate;
  }
  if (const Gemm& gemm = command.gemm; command.standalone && (gemm.lda != 0 || gemm.ldb != 0 || gemm.ldc != 0))
    return InvalidArgument("a standalone file is for packed matrices: leave --lda, --ldb and --ldc away");
  const std::string text =
      command.standalone ? EmitStandalone(command.plan, command.gemm) : Emit(command.plan, command.gemm).text;
  RETURN_IF_ERROR(command.output.empty() ? WriteOut(text) : WriteFileAtomic(command.output, text));
  return kExitDone;
}

}  // namespace gemmsmith
