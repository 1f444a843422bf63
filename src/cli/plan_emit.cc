#include <fmt/format.h>

#include "base/files.h"
#include "base/text.h"
#include "cli/exit.h"
#include "cli/outputs.h"
#include "cli/run.h"
#include "program/emit.h"
#include "program/flat_form.h"
#include "program/legality.h"

namespace gemmsmith {

namespace {

Result<std::string> TextOf(const PlanEmitCommand& command) {
  const Gemm& gemm = command.gemm;
  if (command.style && !command.flat) return InvalidArgument("--style is for --flat");
  if (command.flat && command.standalone) return InvalidArgument("--flat and --standalone exclude each other");
  if (command.flat) return EmitFlat(command.plan, gemm, FlatStyleOf(uint64_t(command.style.value_or(0))));
  if (!command.standalone) return Emit(command.plan, gemm).text;
  if (gemm.lda != 0 || gemm.ldb != 0 || gemm.ldc != 0)
    return InvalidArgument("a standalone file is for packed matrices: leave --lda, --ldb and --ldc away");
  return EmitStandalone(command.plan, gemm);
}

}  // namespace

Result<int> Run(const PlanEmitCommand& command) {
  RETURN_IF_ERROR(CheckOutput(command.output));
  if (const std::vector<std::string> reasons = Check(command.plan, command.gemm, command.device); !reasons.empty()) {
    WriteError(fmt::format("the plan is illegal for {}: {}", Print(command.gemm), Join(reasons, "; ")));
    return kExitNoCandidate;
  }
  ASSIGN_OR_RETURN(const std::string text, TextOf(command));
  RETURN_IF_ERROR(command.output.empty() ? WriteOut(text) : WriteFileAtomic(command.output, text));
  return kExitDone;
}

}  // namespace gemmsmith
