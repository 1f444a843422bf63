// The numbers of optimize --proposer llm.
#include <fmt/format.h>

#include "base/text.h"
#include "cli/readers.h"

namespace gemmsmith {
namespace {

Result<double> ReadNumberIn(std::string_view text, double low, double high, const char* what) {
  const std::optional<double> value = ParseDouble(text);
  if (value && *value >= low && *value <= high) return *value;
  return InvalidArgument(fmt::format("'{}' is no {}: {:g} to {:g}", text, what, low, high));
}

}  // namespace

Result<int> ReadIslands(std::string_view text) {
  ASSIGN_OR_RETURN(const long long islands, ReadIntegerIn(text, 1, 64));
  return int(islands);
}

Result<int> ReadRepairs(std::string_view text) {
  ASSIGN_OR_RETURN(const long long repairs, ReadIntegerIn(text, 0, 32));
  return int(repairs);
}

Result<int64_t> ReadTokens(std::string_view text) {
  ASSIGN_OR_RETURN(const long long tokens, ReadIntegerIn(text, 1, 1'000'000'000'000));
  return int64_t(tokens);
}

Result<double> ReadTemperature(std::string_view text) { return ReadNumberIn(text, 0, 2, "temperature"); }
Result<double> ReadTopP(std::string_view text) { return ReadNumberIn(text, 1e-6, 1, "top-p"); }
Result<double> ReadDollars(std::string_view text) { return ReadNumberIn(text, 1e-6, 1e6, "sum of dollars"); }

Result<TokenPrice> ReadTokenPrice(std::string_view text) {
  const std::vector<std::string_view> words = Split(text, ',');
  if (words.size() != 2) return InvalidArgument(fmt::format("'{}' is not IN,OUT, as in 0.5,1.5", text));
  TokenPrice price;
  ASSIGN_OR_RETURN(price.prompt, ReadNumberIn(words[0], 0, 1e6, "price"));
  ASSIGN_OR_RETURN(price.answer, ReadNumberIn(words[1], 0, 1e6, "price"));
  return price;
}

}  // namespace gemmsmith
