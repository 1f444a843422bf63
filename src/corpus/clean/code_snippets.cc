#include "corpus/clean/code_snippets.h"

#include <algorithm>
#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "corpus/clean/author_words.h"
#include "corpus/clean/code_items.h"

namespace gemmsmith {

namespace {

constexpr size_t kLargestCode = 24 << 10;
constexpr int64_t kFewestCodeLines = 4;
constexpr size_t kMostOverloads = 16;  // that join as helpers
constexpr size_t kMostCopies = 4;      // of a file's text in its snippets, by helpers that several share

constexpr std::string_view kCudaWords[] = {"__global__", "__device__", "__shared__", "_DEVICE",
                                           "<<<",        "cuda",       "CUDA",       "asm volatile"};

bool IsCuda(std::string_view code) {
  return std::ranges::any_of(kCudaWords, [&](std::string_view word) { return code.find(word) != code.npos; });
}

bool IsRootKind(CodeItemKind kind) {
  return kind == CodeItemKind::kKernel || kind == CodeItemKind::kFunction || kind == CodeItemKind::kType;
}

SnippetKind KindOf(CodeItemKind kind) {
  return kind == CodeItemKind::kKernel     ? SnippetKind::kKernel
         : kind == CodeItemKind::kFunction ? SnippetKind::kFunction
                                           : SnippetKind::kType;
}

class CodeCutter {
 public:
  explicit CodeCutter(const Snippet& file)
      : file_(file), tokens_(CppTokens(file.text, CppComments::kKept)), items_(CodeItems(file.text, tokens_)) {
    for (size_t i = 0; i < items_.size(); ++i)
      if (items_[i].kind != CodeItemKind::kOther) by_name_[items_[i].name].push_back(i);
  }

  std::vector<Snippet> Run() {
    std::vector<std::pair<size_t, Snippet>> cut;  // by their place
    for (size_t i = 0; i < items_.size(); ++i)
      if (items_[i].kind == CodeItemKind::kKernel) Cut(items_[i], cut);
    for (size_t i = 0; i < items_.size(); ++i) {
      const bool is_other_root = IsRootKind(items_[i].kind) && items_[i].kind != CodeItemKind::kKernel;
      const bool has_comment = !InstructionIn(items_[i].comment).empty();
      if (is_other_root && (has_comment || !helpers_.contains(i))) Cut(items_[i], cut);
      if (items_[i].kind == CodeItemKind::kType && (!has_comment || items_[i].text.size() > kLargestCode))
        CutMembers(items_[i], cut);
    }
    std::ranges::sort(cut, {}, [](const auto& entry) { return entry.first; });
    std::vector<Snippet> snippets;
    for (auto& [place, snippet] : cut) snippets.push_back(std::move(snippet));
    return snippets;
  }

 private:
  // Everything that the item uses, directly or not, as far as there is room.
  std::set<size_t> HelpersOf(const CodeItem& root) const {
    std::set<size_t> items;
    std::vector<const CodeItem*> open = {&root};
    size_t bytes = root.text.size();
    for (size_t next = 0; next < open.size(); ++next) {
      const CodeItem& item = *open[next];
      for (size_t t = item.first_token; t < item.last_token; ++t) {
        const auto found = tokens_[t].kind == CppTokenKind::kName ? by_name_.find(tokens_[t].text) : by_name_.end();
        if (found == by_name_.end()) continue;
        for (const size_t helper : std::span(found->second).first(std::min(found->second.size(), kMostOverloads))) {
          const size_t more = items_[helper].text.size() + items_[helper].comment.size() + 2;
          const bool is_its_own =
              items_[helper].first_token <= root.first_token && root.last_token <= items_[helper].last_token;
          if (is_its_own || items_[helper].kind == CodeItemKind::kKernel || bytes + more > kLargestCode) continue;
          if (!items.insert(helper).second) continue;
          bytes += more;
          open.push_back(&items_[helper]);
        }
      }
    }
    return items;
  }

  // In the order of the file.
  std::string TextOf(const CodeItem& root, bool has_instruction, const std::set<size_t>& helpers) const {
    std::vector<const CodeItem*> all = {&root};
    for (const size_t i : helpers) all.push_back(&items_[i]);
    std::ranges::sort(all, {}, [](const CodeItem* item) { return item->begin; });
    std::string text;
    for (const CodeItem* item : all) {
      if (!text.empty()) text += "\n";
      if (!item->comment.empty() && !(item == &root && has_instruction)) text += std::string(item->comment) + "\n";
      text += std::string(item->text) + "\n";
    }
    return text;
  }

  void Cut(const CodeItem& root, std::vector<std::pair<size_t, Snippet>>& cut) {
    if (root.text.size() > kLargestCode || std::ranges::count(root.text, '\n') + 1 < kFewestCodeLines) return;
    if (cut_bytes_ > kMostCopies * file_.text.size() + kLargestCode) return;
    const std::set<size_t> helpers = HelpersOf(root);
    if (root.kind == CodeItemKind::kKernel) helpers_.insert(helpers.begin(), helpers.end());
    std::string instruction = InstructionIn(root.comment);
    const bool has_instruction = !instruction.empty();
    std::string text = TextOf(root, has_instruction, helpers);
    cut_bytes_ += text.size();
    const std::string_view before = std::string_view(file_.text).substr(0, root.begin);
    cut.emplace_back(root.begin, Snippet{.context = {},
                                         .instruction = std::move(instruction),
                                         .text = std::move(text),
                                         .instruction_by = std::string(has_instruction ? kByComment : ""),
                                         .kind = KindOf(root.kind),
                                         .title = root.name,
                                         .source = file_.source,
                                         .path = file_.path,
                                         .line = std::ranges::count(before, '\n') + 1,
                                         .license = file_.license});
  }

  void CutMembers(const CodeItem& type, std::vector<std::pair<size_t, Snippet>>& cut) {
    for (CodeItem& member : CodeMembers(file_.text, tokens_, type)) {
      if (member.kind != CodeItemKind::kFunction || InstructionIn(member.comment).empty()) continue;
      member.name = type.name + "::" + member.name;
      Cut(member, cut);
    }
  }

  const Snippet& file_;
  const std::vector<CppToken> tokens_;
  const std::vector<CodeItem> items_;
  std::map<std::string, std::vector<size_t>, std::less<>> by_name_;
  std::set<size_t> helpers_;  // of kernels
  size_t cut_bytes_ = 0;
};

}  // namespace

std::vector<Snippet> CutCode(const Snippet& file) {
  if (!IsCuda(file.text)) return {};
  return CodeCutter(file).Run();
}

}  // namespace gemmsmith
