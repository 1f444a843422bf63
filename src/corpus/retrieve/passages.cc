#include "corpus/retrieve/passages.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <system_error>

#include "base/descriptors.h"
#include "base/files.h"
#include "base/hash.h"
#include "corpus/text_shards.h"

namespace gemmsmith {

namespace {

namespace fs = std::filesystem;

constexpr size_t kLargestPassage = 1500;
constexpr size_t kExamples = 2;

// Whole lines, or a part of the first.
std::string_view Beginning(std::string_view text) {
  if (text.size() <= kLargestPassage) return text;
  const size_t end = text.rfind('\n', kLargestPassage - 1);
  return text.substr(0, end == text.npos ? kLargestPassage : end + 1);
}

uint64_t FileHash(const Snippet& snippet) { return HashBytes(snippet.source + "\n" + snippet.path).low; }

std::string Excerpt(const Snippet& snippet) {
  const std::string place = snippet.path.empty() ? snippet.source : snippet.source + "/" + snippet.path;
  std::string text = fmt::format("### {} ({}:{})\n", snippet.title, place, snippet.line);
  if (!snippet.instruction.empty()) text += snippet.instruction + "\n";
  text += Beginning(snippet.text);
  return text;
}

// A file without a name, which is gone when its process is. The descriptor.
Result<int> NamelessFile() {
  ASSIGN_OR_RETURN(const TemporaryFolder folder, TemporaryFolder::Create("gemmsmith-passages"));
  const fs::path file = folder.path() / "passages";
  const int fd = open(file.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (fd < 0)
    return IoError(fmt::format("cannot create {}: {}", file.string(), std::generic_category().message(errno)));
  return fd;
}

}  // namespace

Passages::~Passages() {
  if (fd_ >= 0) close(fd_);
}

Result<std::unique_ptr<Passages>> Passages::Read(const fs::path& folder) {
  std::unique_ptr<Passages> passages(new Passages);
  ASSIGN_OR_RETURN(passages->fd_, NamelessFile());
  ASSIGN_OR_RETURN(const std::vector<fs::path> shards, TextShardsAt(folder));
  for (const fs::path& path : shards) {
    ASSIGN_OR_RETURN(const SnippetShard shard, ReadSnippets(path));
    for (const Snippet& snippet : shard.snippets) RETURN_IF_ERROR(passages->Add(snippet));
  }
  return passages;
}

Status Passages::Add(const Snippet& snippet) {
  const std::string excerpt = Excerpt(snippet);
  if (!WriteAll(fd_, excerpt + snippet.license))
    return IoError(fmt::format("cannot write passages to a file in $TMPDIR: {}; set it to a folder with room",
                               std::generic_category().message(errno)));
  index_.Add(snippet.title + "\n" + snippet.instruction, snippet.text);
  known_.push_back({FileHash(snippet), HashBytes(snippet.title).low, snippet.kind, written_, uint32_t(excerpt.size()),
                    uint32_t(snippet.license.size())});
  written_ += int64_t(excerpt.size() + snippet.license.size());
  fingerprint_ = HashBytes(fingerprint_ + excerpt + snippet.text + snippet.license).Hex();
  return OkStatus();
}

Result<std::string> Passages::StoredAt(int64_t offset, size_t bytes) const {
  std::string text(bytes, '\0');
  if (pread(fd_, text.data(), text.size(), offset) != ssize_t(text.size()))
    return IoError("cannot read passages in their file in $TMPDIR");
  return text;
}

Result<std::string> Passages::TextOf(uint32_t passage) const {
  return StoredAt(known_[passage].offset, known_[passage].bytes);
}

Result<std::vector<Passages::Found>> Passages::Find(std::string_view question, size_t count) const {
  return Find(question, count, [](SnippetKind) { return true; });
}

Result<std::vector<Passages::Found>> Passages::Find(std::string_view question, size_t count,
                                                    const std::function<bool(SnippetKind)>& accepts) const {
  const auto is_accepted = [&](uint32_t passage) { return accepts(known_[passage].kind); };
  std::vector<Found> found;
  for (const PassageIndex::Hit& hit : index_.Find(question, count, is_accepted)) {
    const Known& known = known_[hit.passage];
    ASSIGN_OR_RETURN(std::string text, TextOf(hit.passage));
    ASSIGN_OR_RETURN(std::string license, StoredAt(known.offset + known.bytes, known.license_bytes));
    found.push_back({hit.score, known.kind, std::move(text), std::move(license)});
  }
  return found;
}

Result<std::string> Passages::ContextFor(const Snippet& snippet) const {
  const uint64_t file = FileHash(snippet), title = HashBytes(snippet.title).low;
  const auto find = [&](bool sections, size_t count) {
    return index_.Find(snippet.instruction, count, [&](uint32_t passage) {
      const Known& known = known_[passage];
      const bool is_section = known.kind == SnippetKind::kSection;
      return is_section == sections && known.file != file && (is_section || known.title != title);
    });
  };
  std::vector<PassageIndex::Hit> hits = find(true, 1);
  const std::vector<PassageIndex::Hit> examples = find(false, kExamples);
  hits.insert(hits.end(), examples.begin(), examples.end());
  std::string context;
  for (const PassageIndex::Hit& hit : hits) {
    ASSIGN_OR_RETURN(const std::string text, TextOf(hit.passage));
    context += (context.empty() ? "" : "\n") + text;
  }
  return context;
}

}  // namespace gemmsmith
