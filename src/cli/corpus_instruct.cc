#include <fmt/format.h>

#include "cli/endpoint.h"
#include "cli/run.h"
#include "cli/stage_bar.h"
#include "cli/words.h"
#include "llm/chat_endpoint.h"
#include "llm/instruct.h"

namespace gemmsmith {

namespace {

std::string PrintText(const CorpusInstructCommand& command, const InstructSummary& summary) {
  const StageSummary& stage = summary.stage;
  std::string text = fmt::format("{} by {}; {} of {} were none\n", Plural(summary.written, "instruction"),
                                 WithoutControls(summary.model), CountText(summary.unreadable),
                                 Plural(summary.written + summary.unreadable, "answer"));
  if (summary.refused > 0)
    text += fmt::format("  refused  {}; their comments stay\n", Plural(summary.refused, "question"));
  if (stage.found > 0) text += fmt::format("  there before  {}\n", Plural(stage.found, "text"));
  return text + fmt::format("  texts  {}\n", command.output.string());
}

Result<std::unique_ptr<ChatEndpoint>> OpenEndpoint(const CorpusInstructCommand& command) {
  ASSIGN_OR_RETURN(std::unique_ptr<HttpClient> client, HttpClient::Open());
  return ChatEndpoint::Open({.url = EndpointOr(command.endpoint), .key = EndpointKey(), .stop = InterruptArrived},
                            std::move(client));
}

}  // namespace

Result<int> Run(const CorpusInstructCommand& command) {
  WatchForInterrupts();
  InstructOptions options{command.texts, command.output, command.model, command.cassette};
  std::unique_ptr<ChatEndpoint> endpoint;
  if (command.cassette.empty()) {
    ASSIGN_OR_RETURN(endpoint, OpenEndpoint(command));
    if (options.model.empty()) {
      ASSIGN_OR_RETURN(options.model, endpoint->FirstModel());
    }
  }
  StageBar bar;
  const Result<InstructSummary> summary = WriteInstructions(options, endpoint.get(), InterruptArrived, bar.Watch());
  if (InterruptArrived() && !summary.ok()) return Interrupted("interrupted; the same command asks nothing twice");
  RETURN_IF_ERROR(summary.status());
  return bar.Finish(summary->stage, PrintText(command, *summary));
}

}  // namespace gemmsmith
