#include "evaluate/isolate/once.h"

#include "base/files.h"
#include "cli/exit.h"
#include "cli/run.h"

namespace gemmsmith {

Result<int> Run(const OnceCommand& command) {
  std::vector<SingleCall> calls;
  for (const std::filesystem::path& file : command.files) {
    ASSIGN_OR_RETURN(const std::string bytes, ReadFile(file));
    ASSIGN_OR_RETURN(calls.emplace_back(), DecodeSingleCall(bytes));
  }
  ASSIGN_OR_RETURN(const std::string failure, RunOnce(command.gpu, calls, command.calls));
  if (failure.empty()) return kExitDone;
  WriteError(failure);
  return kCallFailedExitCode;
}

}  // namespace gemmsmith
