// The last stage of the corpus: instruction and code get a context.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>

#include "corpus/snippet_stage.h"

namespace gemmsmith {

struct RetrieveSummary {
  StageSummary stage;
  size_t passages = 0;
  int64_t without_instruction = 0;  // dropped by this call, sections among them
};

// Texts with an instruction become triplets. Passages are those of `documents`; empty: of the input.
Result<RetrieveSummary> RetrieveContexts(const std::filesystem::path& input, const std::filesystem::path& documents,
                                         const std::filesystem::path& output, std::function<bool()> stop,
                                         std::function<void(int64_t shards, int64_t of)> watch);

}  // namespace gemmsmith
