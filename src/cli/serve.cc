#include <fmt/format.h>

#include <cstdlib>

#include "agents/judge_http.h"
#include "agents/judge_room.h"
#include "agents/mcp_http.h"
#include "base/files.h"
#include "base/interrupt.h"
#include "base/text.h"
#include "cli/exit.h"
#include "cli/run.h"
#include "llm/openenv_http.h"
#include "llm/reward_http.h"

namespace gemmsmith {
namespace {

// A batch of sources; their texts have at most 1 MiB each.
constexpr HttpLimits kLimits{.body_bytes = size_t{8} << 20, .connections = 512};

// The first word of the file.
Result<std::string> TokenIn(const std::filesystem::path& file) {
  if (file.empty()) return std::string();
  ASSIGN_OR_RETURN(const std::string text, ReadFile(file));
  const std::vector<std::string_view> words = SplitWords(text);
  if (words.size() != 1) return InvalidArgument(fmt::format("{} does not hold one word, the token", file.string()));
  return std::string(words.front());
}

}  // namespace

Result<int> Run(const ServeCommand& command) {
  ASSIGN_OR_RETURN(const std::string token, TokenIn(command.token_file));
  const HttpAccess access{.address = command.address, .token = token};
  ASSIGN_OR_RETURN(const std::unique_ptr<HttpServer> server, HttpServer::Listen(command.port, kLimits, access));
  // Two services on one journal would judge each pending request twice.
  const std::filesystem::path journal = JournalPath(command.judge);
  ASSIGN_OR_RETURN(const FileLock lock, FileLock::TryAcquire(journal.string() + ".lock"));
  ASSIGN_OR_RETURN(const JudgeRoom room, OpenJudgeRoom(command.judge));
  JudgeHttp http(*room.queue, room.judge->device().key, room.judge->why_no_gpu());
  WatchForInterrupts();
  RETURN_IF_ERROR(WriteOut(fmt::format("http://{}:{}/ judges for {}; Ctrl-C ends it\n", command.address, server->port(),
                                       room.judge->device().name)));
  if (!room.judge->why_no_gpu().empty()) WriteNote(fmt::format("{}: nothing is timed", room.judge->why_no_gpu()));
  RewardHttp rewards(*room.queue);
  const McpServer tools(*room.tools, GEMMSMITH_VERSION);
  McpHttp mcp(tools);
  OpenEnvHttp environment(*room.queue, room.judge->device(), GEMMSMITH_VERSION);
  const auto answer = [&](const HttpRequest& request) -> HttpReply {
    std::optional<HttpReply> reply = rewards.Answer(request);
    if (!reply) reply = mcp.Answer(request);
    if (!reply) reply = environment.Answer(request);
    return reply ? *std::move(reply) : http.Answer(request);
  };
  RETURN_IF_ERROR(server->Serve(answer, InterruptArrived));
  return kExitInterrupted;
}

}  // namespace gemmsmith
