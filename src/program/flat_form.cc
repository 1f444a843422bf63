#include "program/flat_form.h"

#include <fmt/format.h>

#include "program/family.h"
#include "program/flat_text.h"

namespace gemmsmith {

FlatStyle FlatStyleOf(uint64_t seed) {
  FlatStyle style;
  style.names = int(seed % kFlatVocabularies);
  const uint64_t rest = seed / kFlatVocabularies;
  style.writes_out = (rest & 1) != 0;
  style.is_reordered = (rest & 2) != 0;
  style.has_intrinsics = (rest & 4) != 0;
  style.has_comments = (rest & 8) == 0;
  return style;
}

Result<std::string> EmitFlat(const Plan& plan, const Gemm& gemm, const FlatStyle& style) {
  if (gemm.lda != 0 || gemm.ldb != 0 || gemm.ldc != 0)
    return InvalidArgument("a flat file is for packed matrices: leave --lda, --ldb and --ldc away");
  std::optional<std::string> text = FlatTextOf(plan, gemm, style);
  if (!text)
    return InvalidArgument(fmt::format("family {} has no flat form; direct has one", GetFamily(plan.family).name));
  return *std::move(text);
}

}  // namespace gemmsmith
