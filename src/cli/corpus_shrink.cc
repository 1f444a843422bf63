#include <fmt/format.h>

#include "base/files.h"
#include "cli/exit.h"
#include "cli/outputs.h"
#include "cli/run.h"
#include "policy/model.h"

namespace gemmsmith {

Result<int> Run(const CorpusShrinkCommand& command) {
  RETURN_IF_ERROR(CheckOutput(command.output));
  ASSIGN_OR_RETURN(const std::string bytes, ReadFile(command.model));
  const Result<std::string> shrunk = ShrunkModel(bytes, command.bits);
  if (!shrunk.ok()) return WithContext(shrunk.status(), command.model.string());
  RETURN_IF_ERROR(WriteFileAtomic(command.output, *shrunk));
  RETURN_IF_ERROR(WriteOut(fmt::format("{:.1f} MB, {:.1f} before\n  weights  {}\n", double(shrunk->size()) * 1e-6,
                                       double(bytes.size()) * 1e-6, command.output.string())));
  return kExitDone;
}

}  // namespace gemmsmith
