#include <unistd.h>

#include "agents/judge_room.h"
#include "agents/mcp.h"
#include "base/subprocess.h"
#include "cli/exit.h"
#include "cli/run.h"

namespace gemmsmith {

Result<int> Run(const McpCommand& command) {
  ASSIGN_OR_RETURN(const int out, SeparateStandardOutput());
  ASSIGN_OR_RETURN(const JudgeRoom room, OpenJudgeRoom(command.judge));
  const McpServer server(*room.tools, GEMMSMITH_VERSION);
  RETURN_IF_ERROR(ServeMcp(server, STDIN_FILENO, out));
  return kExitDone;
}

}  // namespace gemmsmith
