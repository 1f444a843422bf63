#include "cli/problems.h"

#include <fmt/format.h>

#include "cli/exit.h"
#include "cli/readers.h"
#include "cli/words.h"
#include "program/legality.h"

namespace gemmsmith {

namespace {

constexpr std::string_view kAligned = "lines of A and B at multiples of 16 bytes";

}  // namespace

Result<std::vector<Gemm>> LoadProblems(std::string_view words, std::span<const Layout> layouts, const GemmKind& kind) {
  ASSIGN_OR_RETURN(const std::vector<Product> products, LoadProductLists(words));
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
