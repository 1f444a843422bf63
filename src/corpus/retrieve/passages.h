// The passages that instructions and people search: every snippet of a folder, with the beginning of its text.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/status.h"
#include "corpus/retrieve/passage_index.h"
#include "corpus/snippet.h"

namespace gemmsmith {

// Memory holds words' and names' hashes; texts lie in a file in $TMPDIR that has no name.
class Passages {
 public:
  // Shards of corpus clean. NotFound where there are none.
  static Result<std::unique_ptr<Passages>> Read(const std::filesystem::path& folder);
  ~Passages();

  size_t size() const { return known_.size(); }
  // Tells passages apart from others.
  const std::string& fingerprint() const { return fingerprint_; }

  struct Found {
    double score = 0;
    SnippetKind kind = SnippetKind::kFile;
    std::string text;  // "### title (source/path:line)" and the first lines of its text, 1,500 bytes at most
    std::string license;
  };
  Result<std::vector<Found>> Find(std::string_view question, size_t count) const;
  // Those of a kind that `accepts` takes.
  Result<std::vector<Found>> Find(std::string_view question, size_t count,
                                  const std::function<bool(SnippetKind)>& accepts) const;
  // Passages that help to answer the snippet's instruction: the best section and the two best examples. None is of the
  // snippet's own file, or of code with its name. Safe from many threads.
  Result<std::string> ContextFor(const Snippet& snippet) const;

 private:
  struct Known {
    uint64_t file = 0, title = 0;  // hashes
    SnippetKind kind = SnippetKind::kFile;
    int64_t offset = 0;  // in the temporary file: the text, then the licence
    uint32_t bytes = 0, license_bytes = 0;
  };
  Passages() = default;
  Status Add(const Snippet& snippet);
  Result<std::string> StoredAt(int64_t offset, size_t bytes) const;
  Result<std::string> TextOf(uint32_t passage) const;

  int fd_ = -1;  // of the texts
  int64_t written_ = 0;
  PassageIndex index_;
  std::vector<Known> known_;
  std::string fingerprint_;
};

}  // namespace gemmsmith
