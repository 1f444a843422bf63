// The second stage of the corpus: files become snippets, none of them twice.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>

#include "corpus/snippet_stage.h"

namespace gemmsmith {

struct CleanSummary {
  StageSummary stage;
  int64_t duplicates = 0;        // dropped by this call, exact and near
  int64_t with_instruction = 0;  // of the texts that this call made
};

// Cuts the files of corpus collect. `stop` and `watch` are those of the stage.
Result<CleanSummary> CleanTexts(const std::filesystem::path& input, const std::filesystem::path& output,
                                std::function<bool()> stop, std::function<void(int64_t shards, int64_t of)> watch);

// The snippets of one file, duplicates among them included.
std::vector<Snippet> CutFile(const Snippet& file);

}  // namespace gemmsmith
