// The grammar of mcp and serve.
#include "cli/grammar.h"

namespace gemmsmith {
namespace {

void AddJudge(Verb* verb, JudgeRoomOptions* judge) {
  Value(verb, "--device", "WHERE", "auto, gpu:N, all, or a known device without its GPU [auto]", &judge->machine.device,
        ReadDeviceChoice);
  AddArchive(verb, &judge->machine.archive);
  Value(verb, "--journal", "FILE", "requests, verdicts and texts [judge.sqlite in the data folder]", &judge->journal,
        ReadPath);
  Value(verb, "--catalogue", "FILE", "kernels to beat [the user's, else the shipped one]", &judge->catalogue, ReadPath);
  Value(verb, "--name", "NAME", "campaign of the trials in the archive [judge]", &judge->machine.campaign, ReadName);
}

}  // namespace

void AddAgents(Grammar& grammar) {
  McpCommand* mcp_command = grammar.New<McpCommand>();
  Verb* mcp =
      grammar.NewVerb(grammar.root(), "mcp", "tools for coding agents, over standard input and output", mcp_command);
  AddJudge(mcp, &mcp_command->judge);
  mcp->AddFooter(
      "Speaks the Model Context Protocol. A client starts it: {\"command\": \"gemmsmith\", \"args\": [\"mcp\"]}");

  ServeCommand* serve_command = grammar.New<ServeCommand>();
  Verb* serve =
      grammar.NewVerb(grammar.root(), "serve", "the judge over HTTP, for trainers and other machines", serve_command);
  AddJudge(serve, &serve_command->judge);
  Value(serve, "--port", "PORT", "0: any free one [8766]", &serve_command->port, ReadLivePort);
  Value(serve, "--address", "IPV4", "another than 127.0.0.1 needs --token-file [127.0.0.1]", &serve_command->address,
        ReadText);
  Value(serve, "--token-file", "FILE", "one word that requests have as Authorization: Bearer WORD",
        &serve_command->token_file, ReadPath);
  Value(serve, "--capacity", "N", "requests under way, at most [256]", &serve_command->judge.capacity, ReadCount);
}

}  // namespace gemmsmith
