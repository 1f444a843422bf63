// The first stage of the corpus: files as shards of whole texts, each with its source and licence.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "base/status.h"
#include "corpus/collect/license.h"

namespace gemmsmith {

struct CollectOptions {
  std::vector<std::filesystem::path> sources;  // trees, archives, pages
  LicenseChoice licenses;
  int shard_texts = 500;
  int64_t shard_bytes = 8 << 20;
};

struct CollectHooks {
  std::function<bool()> stop;                 // between two files, also those not kept
  std::function<void(int64_t texts)> watch;   // after each file that is kept
  std::function<void(std::string)> left_out;  // of a file or an archive, one line
};

struct CollectSummary {
  int64_t texts = 0, found = 0;  // in the folder now; of these found there
  int64_t bytes = 0;             // of texts
  int64_t duplicates = 0;
  std::map<std::string, int64_t> refused;  // by licence
  int64_t left_out = 0;                    // files, by their size or content
  int64_t unread = 0;                      // archives, folders and files that could not be read, or not to their end
};

// Adds texts to the folder, none twice. Those there stay: a stopped run goes on, and further sources add theirs.
// InvalidArgument where the folder was made with other licences. DataLoss where it misses a shard between others.
// NotFound where a source is missing. Unavailable while another process writes there.
Result<CollectSummary> CollectTexts(const CollectOptions& options, const std::filesystem::path& folder,
                                    const CollectHooks& hooks);

}  // namespace gemmsmith
