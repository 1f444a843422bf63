#include "cli/run.h"

#include <signal.h>

#include <exception>
#include <new>

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
  // A closed pipe and a limit on the size of files are failed writes like any other.
  for (const int ignored : {SIGPIPE, SIGXFSZ}) signal(ignored, SIG_IGN);
  try {
    const std::variant<Command, NoCommand> parsed = ParseCommandLine(argc, argv);
    if (const NoCommand* none = std::get_if<NoCommand>(&parsed)) return Finish(*none);
    return std::visit([](const auto& command) { return Finish(Run(command)); }, std::get<Command>(parsed));
  } catch (const std::bad_alloc&) {
    WriteError("out of memory; what was stored before is kept");
  } catch (const std::exception& exception) {  // of a library, which nobody caught where it entered
    WriteError(exception.what());
  }
  return kExitFailure;
}

}  // namespace gemmsmith
