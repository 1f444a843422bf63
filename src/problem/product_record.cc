#include "problem/product_record.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/files.h"
#include "base/text.h"

namespace gemmsmith {

namespace {

constexpr std::string_view kHeader = "gemmsmith-products 1";
constexpr std::string_view kGemm = "gemm", kOther = "other";
constexpr std::string_view kCount = "count=", kShare = "share=", kBatch = "batch=";
constexpr int kPlainWords = 5;  // of a problem: kind, shape, layout, type, sums

// The problem that a line of either kind begins with.
Result<Gemm> PlainProblem(const std::vector<std::string_view>& words) {
  if (words.size() < kPlainWords || (words[0] != kGemm && words[0] != kOther))
    return InvalidArgument("it begins with neither 'gemm' nor 'other', a shape, a layout, a type and sums");
  return ParseGemm(fmt::format("{} {}", kGemm, fmt::join(words.begin() + 1, words.begin() + kPlainWords, " ")));
}

int64_t BatchOf(const std::vector<std::string_view>& words) {
  for (const std::string_view word : words)
    if (word.starts_with(kBatch)) return ParseInteger(word.substr(kBatch.size())).value_or(1);
  return 1;
}

// The floor on a Hopper GPU, whichever GPU made the record.
double FloorNs(const std::string& text, int64_t calls) {
  static const Device& device = *new Device(*FindDevice("h200"));
  const std::vector<std::string_view> words = SplitWords(text);
  Task task = MakeTask(*PlainProblem(words));
  task.flops *= double(BatchOf(words)), task.bytes *= double(BatchOf(words));
  return task.ColdFloorNs(device) * double(calls);
}

Status AddLine(std::string_view line, ProductRecord& record) {
  std::vector<std::string_view> words = SplitWords(line);
  RETURN_IF_ERROR(PlainProblem(words).status());
  if (words.back().starts_with(kShare)) words.pop_back();
  if (words.size() <= kPlainWords || !words.back().starts_with(kCount)) return InvalidArgument("it has no count=");
  const std::optional<long long> calls = ParseInteger(words.back().substr(kCount.size()));
  if (!calls || *calls < 1) return InvalidArgument("its count is no number from 1");
  words.pop_back();
  const std::string text = fmt::format("{}", fmt::join(words, " "));
  if (words[0] == kGemm) RETURN_IF_ERROR(ParseGemm(text).status());
  record.Add(text, *calls);
  return OkStatus();
}

}  // namespace

bool ProductRecord::IsRecord(std::string_view text) { return text.substr(0, text.find('\n')) == kHeader; }

Result<ProductRecord> ProductRecord::Parse(std::string_view text) {
  if (!IsRecord(text)) return InvalidArgument(fmt::format("the first line is not '{}'", kHeader));
  if (!text.ends_with('\n')) return InvalidArgument("the last line was cut off");
  ProductRecord record;
  int number = 0;
  for (const std::string_view line : Split(text, '\n')) {
    ++number;
    if (number == 1 || line.empty()) continue;
    if (const Status status = AddLine(line, record); !status.ok())
      return InvalidArgument(fmt::format("line {}: {}", number, status.message()));
  }
  return record;
}

void ProductRecord::Add(const ProductRecord& other) {
  for (const auto& [text, calls] : other.calls_) Add(text, calls);
}

std::vector<ProductRecord::Line> ProductRecord::Lines() const {
  std::vector<Line> lines;
  double all_ns = 0;
  for (const auto& [text, calls] : calls_) {
    lines.push_back({.text = text, .gemm = std::nullopt, .calls = calls, .share = FloorNs(text, calls)});
    if (text.starts_with(kGemm)) lines.back().gemm = *ParseGemm(text);
    all_ns += lines.back().share;
  }
  for (Line& line : lines) line.share /= all_ns;
  std::ranges::stable_sort(lines, std::greater(), &Line::share);
  return lines;
}

std::string ProductRecord::Print() const {
  std::string text = fmt::format("{}\n", kHeader);
  for (const Line& line : Lines())
    text += fmt::format("{} {}{} {}{:.4f}\n", line.text, kCount, line.calls, kShare, line.share);
  return text;
}

Result<std::optional<ProductRecord>> ReadProductRecord(const std::filesystem::path& path) {
  ASSIGN_OR_RETURN(const std::string text, ReadFile(path));
  if (!ProductRecord::IsRecord(text)) return std::optional<ProductRecord>();
  Result<ProductRecord> record = ProductRecord::Parse(text);
  if (!record.ok()) return InvalidArgument(fmt::format("{}: {}", path.string(), record.status().message()));
  return std::optional(*std::move(record));
}

namespace {

// Empty where there is no file. A file of another kind is never written over.
Result<ProductRecord> RecordSoFar(const std::filesystem::path& path) {
  ASSIGN_OR_RETURN(const bool is_there, Exists(path));
  if (!is_there) return ProductRecord();
  ASSIGN_OR_RETURN(std::optional<ProductRecord> record, ReadProductRecord(path));
  if (!record) return InvalidArgument(fmt::format("{} is no record of products, and is left as it is", path.string()));
  return *std::move(record);
}

}  // namespace

Status BeginProductRecord(const std::filesystem::path& path) {
  RETURN_IF_ERROR(RecordSoFar(path).status());
  return WriteFileAtomic(path, ProductRecord().Print());
}

Status AddToProductRecord(const std::filesystem::path& path, const ProductRecord& record) {
  std::filesystem::path lock_path = path;
  ASSIGN_OR_RETURN(const FileLock lock, FileLock::Acquire(lock_path += ".lock"));
  ASSIGN_OR_RETURN(ProductRecord all, RecordSoFar(path));
  all.Add(record);
  return WriteFileAtomic(path, all.Print());
}

}  // namespace gemmsmith
