#include "evaluate/profile/once.h"

#include "base/files.h"
#include "cli/exit.h"
#include "cli/run.h"

namespace gemmsmith {

Result<int> Run(const OnceCommand& command) {
  ASSIGN_OR_RETURN(const std::string bytes, ReadFile(command.call));
  ASSIGN_OR_RETURN(const SingleCall call, DecodeSingleCall(bytes));
  ASSIGN_OR_RETURN(const std::string failure, RunOnce(command.gpu, call, command.calls));
  if (failure.empty()) return kExitDone;
  WriteError(failure);
  return kCallFailedExitCode;
}

}  // namespace gemmsmith
