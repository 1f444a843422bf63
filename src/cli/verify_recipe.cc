// verify --recipe: what a source launches, recorded without a GPU.
#include <fmt/format.h>

#include "cli/exit.h"
#include "cli/outputs.h"
#include "cli/run.h"
#include "workflow/instrument.h"

namespace gemmsmith {

Result<int> Run(const RecipeCommand& command) {
  ASSIGN_OR_RETURN(const std::unique_ptr<SourceCompiler> sources, OpenSourceCompiler());
  ASSIGN_OR_RETURN(const std::unique_ptr<Compiler> compiler, OpenCompiler());
  const EvaluationRequest request{{.gemm = command.gemm, .time = false}, command.source};
  ASSIGN_OR_RETURN(const PreparedCandidate candidate, Prepare(request, command.device, *compiler, sources.get()));
  if (candidate.ended) {
    WriteError(
        fmt::format("{} at {}: {}", Name(candidate.ended->kind), candidate.ended->stage, candidate.ended->reason));
    return kExitNoCandidate;
  }
  RETURN_IF_ERROR(WriteOut(Print(candidate.source->recipe)));
  return kExitDone;
}

}  // namespace gemmsmith
