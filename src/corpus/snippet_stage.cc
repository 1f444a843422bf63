#include "corpus/snippet_stage.h"

#include <fmt/format.h>

#include "base/files.h"
#include "base/hash.h"
#include "corpus/text_shards.h"

namespace gemmsmith {

namespace {

namespace fs = std::filesystem;

class StageRun {
 public:
  explicit StageRun(const SnippetStage& stage) : stage_(stage) {}

  Status RunShard(const fs::path& input) {
    ASSIGN_OR_RETURN(const std::string bytes, ReadFile(input));
    const std::string origin = fmt::format("{} from {}", stage_.command, HashBytes(bytes).Hex());
    const fs::path output = stage_.output / input.filename();
    ASSIGN_OR_RETURN(const bool is_there, Exists(output));
    return is_there ? Keep(output, origin) : Make(input, output, origin);
  }

  StageSummary& summary() { return summary_; }

 private:
  Status Keep(const fs::path& output, const std::string& origin) {
    ASSIGN_OR_RETURN(const SnippetShard shard, ReadSnippets(output));
    if (shard.origin != origin)
      return InvalidArgument(
          fmt::format("{} is of other texts ({}): name another folder", output.string(), shard.origin));
    if (stage_.keep) stage_.keep(shard.snippets);
    summary_.found += int64_t(shard.snippets.size());
    Count(shard);
    return OkStatus();
  }

  Status Make(const fs::path& input, const fs::path& output, const std::string& origin) {
    ASSIGN_OR_RETURN(SnippetShard shard, ReadSnippets(input));
    summary_.read += int64_t(shard.snippets.size());
    ASSIGN_OR_RETURN(shard.snippets, stage_.make(std::move(shard.snippets), input.filename().string()));
    shard.origin = origin;
    RETURN_IF_ERROR(WriteSnippets(shard, output));
    summary_.texts += int64_t(shard.snippets.size());
    Count(shard);
    return OkStatus();
  }

  void Count(const SnippetShard& shard) {
    for (const Snippet& snippet : shard.snippets) summary_.bytes += int64_t(snippet.text.size());
  }

  const SnippetStage& stage_;
  StageSummary summary_;
};

}  // namespace

Result<StageSummary> RunStage(const SnippetStage& stage) {
  ASSIGN_OR_RETURN(const std::vector<fs::path> inputs, TextShardsAt(stage.input));
  std::error_code error;
  if (fs::equivalent(stage.input, stage.output, error))
    return InvalidArgument(fmt::format("{} is what is read: name another folder", stage.output.string()));
  ASSIGN_OR_RETURN(const FileLock lock, FileLock::TryAcquire(stage.output / ".lock"));
  StageRun run(stage);
  run.summary().of = int64_t(inputs.size());
  for (const fs::path& input : inputs) {
    if (stage.stop && stage.stop()) break;
    RETURN_IF_ERROR(run.RunShard(input));
    ++run.summary().shards;
    if (stage.watch) stage.watch(run.summary().shards, run.summary().of);
  }
  return run.summary();
}

}  // namespace gemmsmith
