#include "corpus/clean/clean.h"

#include <iterator>

#include "base/all_cores.h"
#include "corpus/clean/code_snippets.h"
#include "corpus/clean/near_duplicates.h"
#include "corpus/clean/page_snippets.h"
#include "corpus/collect/file_names.h"

namespace gemmsmith {

namespace {

struct SignedSnippet {
  Snippet snippet;
  TextSignature signature;
};

class Cleaner {
 public:
  std::vector<Snippet> Make(const std::vector<Snippet>& files) {
    std::vector<std::vector<SignedSnippet>> cut(files.size());
    ForEachOnAllCores(files.size(), [&](size_t i) {
      for (Snippet& snippet : CutFile(files[i])) {
        const TextSignature signature = SignatureOf(snippet.text);
        cut[i].push_back({std::move(snippet), signature});
      }
    });
    std::vector<Snippet> kept;
    for (std::vector<SignedSnippet>& of_file : cut)
      for (auto& [snippet, signature] : of_file) {
        if (known_.FindOrAdd(signature)) {
          ++duplicates_;
          continue;
        }
        with_instruction_ += snippet.instruction.empty() ? 0 : 1;
        kept.push_back(std::move(snippet));
      }
    return kept;
  }

  void Keep(const std::vector<Snippet>& snippets) {
    for (const Snippet& snippet : snippets) (void)known_.FindOrAdd(SignatureOf(snippet.text));
  }

  int64_t duplicates() const { return duplicates_; }
  int64_t with_instruction() const { return with_instruction_; }

 private:
  NearDuplicates known_;
  int64_t duplicates_ = 0, with_instruction_ = 0;
};

}  // namespace

std::vector<Snippet> CutFile(const Snippet& file) {
  if (IsHtmlName(file.path)) return CutPage(file, ParseHtml(file.text));
  if (IsPageName(file.path)) return CutPage(file, ParseMarkdown(file.text));
  return CutCode(file);
}

Result<CleanSummary> CleanTexts(const std::filesystem::path& input, const std::filesystem::path& output,
                                std::function<bool()> stop, std::function<void(int64_t shards, int64_t of)> watch) {
  Cleaner cleaner;
  const SnippetStage stage{.command = "corpus clean",
                           .input = input,
                           .output = output,
                           .make = [&](std::vector<Snippet> files, const std::string&) -> Result<std::vector<Snippet>> {
                             return cleaner.Make(files);
                           },
                           .keep = [&](const std::vector<Snippet>& snippets) { cleaner.Keep(snippets); },
                           .stop = std::move(stop),
                           .watch = std::move(watch)};
  ASSIGN_OR_RETURN(const StageSummary summary, RunStage(stage));
  return CleanSummary{summary, cleaner.duplicates(), cleaner.with_instruction()};
}

}  // namespace gemmsmith
