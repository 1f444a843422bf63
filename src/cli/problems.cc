#include "cli/problems.h"

#include <fmt/format.h>

#include "base/text.h"
#include "cli/exit.h"
#include "cli/readers.h"
#include "cli/words.h"
#include "problem/product_record.h"
#include "program/legality.h"

namespace gemmsmith {

namespace {

constexpr std::string_view kAligned = "lines of A and B at multiples of 16 bytes";

// The records among the words.
Result<std::vector<ProductRecord>> RecordsIn(std::string_view words) {
  std::vector<ProductRecord> records;
  for (const std::string_view word : Split(words, ',')) {
    std::error_code error;
    if (!std::filesystem::is_regular_file(word, error)) continue;
    ASSIGN_OR_RETURN(const std::optional<ProductRecord> record, ReadProductRecord(word));
    if (record) records.push_back(*record);
  }
  return records;
}

Status SayWhatIsSkipped(std::string_view words) {
  ASSIGN_OR_RETURN(const std::vector<ProductRecord> records, RecordsIn(words));
  int64_t products = 0;
  double share = 0;
  for (const ProductRecord& record : records)
    for (const ProductRecord::Line& line : record.Lines())
      if (!line.gemm) ++products, share += line.share / double(records.size());
  if (products > 0)
    WriteNote(
        fmt::format("left out: {} with a batch, an epilogue, scales or an f32 result ({:.1f} % of the floor time)",
                    Plural(products, "recorded product"), 100 * share));
  return OkStatus();
}

}  // namespace

Result<bool> NamesRecord(std::string_view words) {
  ASSIGN_OR_RETURN(const std::vector<ProductRecord> records, RecordsIn(words));
  return !records.empty();
}

Result<std::vector<Gemm>> LoadProblems(std::string_view words, std::span<const Layout> layouts, const GemmKind& kind) {
  ASSIGN_OR_RETURN(const std::vector<Product> products, LoadProductLists(words));
  RETURN_IF_ERROR(SayWhatIsSkipped(words));
  std::vector<Gemm> problems = ProblemsOf(products, layouts, kind);
  for (const Gemm& gemm : problems)
    if (const std::vector<std::string> reasons = WhyInvalid(gemm); !reasons.empty())
      return InvalidArgument(fmt::format("{}: {}", Print(gemm.shape), reasons[0]));
  const size_t left_out = std::erase_if(problems, [](const Gemm& gemm) { return !IsServed(gemm); });
  if (problems.empty())
    return NotFound(fmt::format("no kernel reads the column-major A of '{}': TMA needs {}", words, kAligned));
  if (left_out > 0)
    WriteNote(fmt::format("left out: {} with a column-major A, which needs {}", Plural(int64_t(left_out), "problem"),
                          kAligned));
  return problems;
}

}  // namespace gemmsmith
