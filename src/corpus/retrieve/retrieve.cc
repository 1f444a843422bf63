#include "corpus/retrieve/retrieve.h"

#include "base/all_cores.h"
#include "corpus/retrieve/passages.h"

namespace gemmsmith {

namespace {

Result<std::vector<Snippet>> WithContexts(std::vector<Snippet> snippets, const Passages& passages) {
  std::vector<Status> failures(snippets.size());
  ForEachOnAllCores(snippets.size(), [&](size_t i) {
    Result<std::string> context = passages.ContextFor(snippets[i]);
    failures[i] = context.status();
    if (context.ok()) snippets[i].context = *std::move(context);
  });
  for (const Status& failure : failures) RETURN_IF_ERROR(failure);
  return snippets;
}

}  // namespace

Result<RetrieveSummary> RetrieveContexts(const std::filesystem::path& input, const std::filesystem::path& documents,
                                         const std::filesystem::path& output, std::function<bool()> stop,
                                         std::function<void(int64_t shards, int64_t of)> watch) {
  ASSIGN_OR_RETURN(const std::unique_ptr<Passages> passages, Passages::Read(documents.empty() ? input : documents));
  RetrieveSummary summary{.passages = passages->size()};
  const SnippetStage stage{
      .command = "corpus retrieve of " + passages->fingerprint(),
      .input = input,
      .output = output,
      .make = [&](std::vector<Snippet> snippets, const std::string&) -> Result<std::vector<Snippet>> {
        summary.without_instruction += int64_t(std::erase_if(snippets, [](const Snippet& snippet) {
          return snippet.instruction.empty() || snippet.kind == SnippetKind::kSection;
        }));
        return WithContexts(std::move(snippets), *passages);
      },
      .keep = nullptr,
      .stop = std::move(stop),
      .watch = std::move(watch)};
  ASSIGN_OR_RETURN(summary.stage, RunStage(stage));
  return summary;
}

}  // namespace gemmsmith
