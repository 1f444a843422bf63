#include "corpus/plan_kernels.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <string_view>
#include <unordered_map>

#include "base/cpp_tokens.h"
#include "base/hash.h"
#include "program/family.h"
#include "program/flat_form.h"

namespace gemmsmith {

namespace {

// Each name as its number in the order of first use.
Hash128 NamelessHash(const std::vector<CppToken>& tokens) {
  std::unordered_map<std::string_view, size_t> names;
  std::string text;
  for (const CppToken& token : tokens) {
    if (token.IsName())
      fmt::format_to(std::back_inserter(text), "n{}", names.try_emplace(token.text, names.size()).first->second);
    else
      text += token.text;
    text += '\n';
  }
  return HashBytes(text);
}

// The numbers of constants and launch bounds, sorted: every style of a plan has the same.
using SharedNumbers = std::vector<std::string>;

SharedNumbers SharedNumbersOf(const std::vector<CppToken>& tokens) {
  SharedNumbers numbers;
  bool is_shared = false;
  for (const CppToken& token : tokens) {
    if (token.Is("constexpr") || token.Is("__launch_bounds__"))
      is_shared = true;
    else if (token.Is(";") || token.Is(")"))
      is_shared = false;
    else if (is_shared && token.kind == CppTokenKind::kNumber)
      numbers.emplace_back(token.text);
  }
  std::ranges::sort(numbers);
  return numbers;
}

// Cheap: most plans need no text.
bool MayHave(const SharedNumbers& numbers, const Plan& plan, const Gemm& gemm) {
  const Family& family = GetFamily(plan.family);
  const TileShape tile = family.TileOf(plan);
  const int own[] = {int(family.LaunchFor(plan, gemm).block.x), tile.m, tile.n};
  return std::ranges::all_of(own,
                             [&](int number) { return std::ranges::binary_search(numbers, std::to_string(number)); });
}

// Those that differ in more than names and comments.
std::vector<FlatStyle> NamelessStyles() {
  std::vector<FlatStyle> styles;
  for (uint64_t seed = 0; seed < kFlatStyles; ++seed)
    if (const FlatStyle style = FlatStyleOf(seed); style.names == 0 && !style.has_comments) styles.push_back(style);
  return styles;
}

}  // namespace

std::vector<bool> AreKernelsOf(std::span<const Plan> plans, const Gemm& gemm, std::span<const std::string> sources) {
  const std::vector<FlatStyle> styles = NamelessStyles();
  std::map<Hash128, bool> is_found;
  std::set<SharedNumbers> numbers;
  std::vector<Hash128> hashes;
  for (const std::string& source : sources) {
    const std::vector<CppToken> tokens = CppTokens(source);
    is_found[hashes.emplace_back(NamelessHash(tokens))] = false;
    numbers.insert(SharedNumbersOf(tokens));
  }
  for (const Plan& plan : plans) {
    if (std::ranges::none_of(numbers, [&](const SharedNumbers& some) { return MayHave(some, plan, gemm); })) continue;
    for (const FlatStyle& style : styles) {
      const Result<std::string> text = EmitFlat(plan, gemm, style);
      if (!text.ok()) break;
      const std::vector<CppToken> tokens = CppTokens(*text);
      if (!numbers.contains(SharedNumbersOf(tokens))) break;  // nor in the other styles
      if (const auto found = is_found.find(NamelessHash(tokens)); found != is_found.end()) found->second = true;
    }
  }
  std::vector<bool> are_kernels;
  for (const Hash128& hash : hashes) are_kernels.push_back(is_found[hash]);
  return are_kernels;
}

}  // namespace gemmsmith
