#include "corpus/collect/collect.h"

#include <fmt/format.h>

#include "base/files.h"
#include "base/hash.h"
#include "corpus/collect/source_files.h"
#include "corpus/snippet.h"
#include "corpus/text_shards.h"

namespace gemmsmith {

namespace {

namespace fs = std::filesystem;

class Collector {
 public:
  Collector(const CollectOptions& options, const fs::path& folder, const CollectHooks& hooks)
      : options_(options),
        folder_(folder),
        hooks_(hooks),
        origin_("corpus collect --licenses " + options.licenses.words()) {}

  Status ReadWhatIsThere() {
    for (;; ++shards_) {
      const fs::path path = folder_ / TextShardName(shards_);
      ASSIGN_OR_RETURN(const bool is_there, Exists(path));
      if (!is_there) return CheckNoneIsMissing();
      ASSIGN_OR_RETURN(const SnippetShard shard, ReadSnippets(path));
      if (shard.origin != origin_)
        return InvalidArgument(
            fmt::format("{} is of other texts ({}): name another folder", path.string(), shard.origin));
      for (const Snippet& snippet : shard.snippets) {
        found_.insert(HashBytes(snippet.text));
        Count(snippet);
      }
      summary_.found += int64_t(shard.snippets.size());
    }
  }

  Status Take(const fs::path& source) {
    const auto counting = [&](int64_t& count) {
      return [this, &count](std::string why) {
        ++count;
        hooks_.left_out(std::move(why));
      };
    };
    return ReadSource(source, {.read = [&](SourceFile file) { return Read(std::move(file)); },
                               .left_out = counting(summary_.left_out),
                               .unread = counting(summary_.unread),
                               .stop = hooks_.stop});
  }

  Status Flush() {
    if (shard_.snippets.empty()) return OkStatus();
    shard_.origin = origin_;
    RETURN_IF_ERROR(WriteSnippets(shard_, folder_ / TextShardName(shards_)));
    for (const Snippet& snippet : shard_.snippets) Count(snippet);
    ++shards_;
    shard_.snippets.clear();
    shard_bytes_ = 0;
    return OkStatus();
  }

  const CollectSummary& summary() const { return summary_; }

 private:
  // A shard behind the first that is not there would be overwritten.
  Status CheckNoneIsMissing() const {
    const Result<std::vector<fs::path>> all = TextShardsAt(folder_);
    if (!all.ok()) return all.status().code() == StatusCode::kNotFound ? OkStatus() : all.status();
    const std::string missing = TextShardName(shards_);
    for (const fs::path& path : *all)
      if (const std::string name = path.filename().string(); name.starts_with("texts_") && name > missing)
        return DataLoss(fmt::format("{} is missing, and {} is there: put it back, or name another folder",
                                    (folder_ / missing).string(), name));
    return OkStatus();
  }

  Status Read(SourceFile file) {
    if (!options_.licenses.Allows(file.license)) {
      ++summary_.refused[file.license];
      return OkStatus();
    }
    const Hash128 hash = HashBytes(file.text);
    const bool was_there = found_.contains(hash);
    if (file.text.empty() || !met_.insert(hash).second) {
      ++summary_.duplicates;
      return OkStatus();
    }
    if (was_there) return OkStatus();
    shard_bytes_ += int64_t(file.text.size());
    shard_.snippets.push_back({.text = std::move(file.text),
                               .title = file.path,
                               .source = std::move(file.source),
                               .path = file.path,
                               .license = std::move(file.license)});
    if (hooks_.watch) hooks_.watch(summary_.texts + int64_t(shard_.snippets.size()));
    const bool is_full = int(shard_.snippets.size()) >= options_.shard_texts || shard_bytes_ >= options_.shard_bytes;
    return is_full ? Flush() : OkStatus();
  }

  void Count(const Snippet& snippet) {
    ++summary_.texts;
    summary_.bytes += int64_t(snippet.text.size());
  }

  const CollectOptions& options_;
  const fs::path folder_;
  const CollectHooks& hooks_;
  const std::string origin_;
  std::set<Hash128> found_, met_;  // there before; in the sources of this call
  SnippetShard shard_;             // the next
  int64_t shard_bytes_ = 0, shards_ = 0;
  CollectSummary summary_;
};

}  // namespace

Result<CollectSummary> CollectTexts(const CollectOptions& options, const fs::path& folder, const CollectHooks& hooks) {
  for (const fs::path& source : options.sources) {
    std::error_code error;
    if (!fs::exists(source, error)) return NotFound(fmt::format("{}: no such tree, archive or page", source.string()));
  }
  ASSIGN_OR_RETURN(const FileLock lock, FileLock::TryAcquire(folder / ".lock"));
  Collector collector(options, folder, hooks);
  RETURN_IF_ERROR(collector.ReadWhatIsThere());
  Status taken;
  for (const fs::path& source : options.sources)
    if (taken.ok()) taken = collector.Take(source);
  RETURN_IF_ERROR(collector.Flush());  // also of a run that is stopped
  if (!taken.ok() && taken.code() != StatusCode::kInterrupted) return taken;
  return collector.summary();
}

}  // namespace gemmsmith
