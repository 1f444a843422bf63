// A stage of the corpus: each shard of one folder becomes one of another, under the same name.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "corpus/snippet.h"

namespace gemmsmith {

struct SnippetStage {
  std::string command;  // with everything that its texts depend on, but what it reads
  std::filesystem::path input, output;
  // In the order of the shards. The shard's name tells them apart.
  std::function<Result<std::vector<Snippet>>(std::vector<Snippet> snippets, const std::string& shard)> make;
  // The texts of an earlier run, in the same order; may be null.
  std::function<void(const std::vector<Snippet>& snippets)> keep;
  std::function<bool()> stop;                             // between two shards; may be null
  std::function<void(int64_t shards, int64_t of)> watch;  // may be null
};

struct StageSummary {
  int64_t shards = 0, of = 0;   // done; in the input
  int64_t read = 0, texts = 0;  // of the shards that this call made
  int64_t found = 0;            // texts of those that were there
  int64_t bytes = 0;            // of all texts in the output
  bool is_whole() const { return shards == of; }
};

// A shard is written when it is complete; a stopped run goes on with the first that is missing. InvalidArgument where
// the output was made otherwise, or from other texts; Unavailable while another process writes there.
Result<StageSummary> RunStage(const SnippetStage& stage);

}  // namespace gemmsmith
