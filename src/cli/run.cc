#include "cli/run.h"

#include <signal.h>

#include "cli/exit.h"

namespace gemmsmith {

namespace {

int Finish(const Result<int>& result) {
  if (result.ok()) return *result;
  WriteError(result.status().message());
  return ExitCodeOf(result.status().code());
}

int Finish(const NoCommand& none) {
  if (none.exit_code != kExitDone) {
    WriteError(none.text);
    return none.exit_code;
  }
  const Status written = WriteOut(none.text);
  if (!written.ok()) WriteError(written.message());
  return ExitCodeOf(written.code());
}

}  // namespace

int RunCommandLine(int argc, const char* const* argv) {
  signal(SIGPIPE, SIG_IGN);  // a closed pipe is a failed write like any other
  const std::variant<Command, NoCommand> parsed = ParseCommandLine(argc, argv);
  if (const NoCommand* none = std::get_if<NoCommand>(&parsed)) return Finish(*none);
  return std::visit([](const auto& command) { return Finish(Run(command)); }, std::get<Command>(parsed));
}

}  // namespace gemmsmith
