#include "agents/bounded_json.h"

#include <algorithm>
#include <nlohmann/json.hpp>

namespace gemmsmith {
namespace {

constexpr int kMaxDepth = 64;

// Of a text that is JSON: how deep it is nested.
int DepthOf(std::string_view text) {
  int depth = 0, deepest = 0;
  bool in_string = false;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (in_string && c == '\\') ++i;
    if (c == '"') in_string = !in_string;
    if (in_string) continue;
    if (c == '[' || c == '{') deepest = std::max(deepest, ++depth);
    if (c == ']' || c == '}') --depth;
  }
  return deepest;
}

}  // namespace

Result<nlohmann::ordered_json> ParseBoundedJson(std::string_view text) {
  if (DepthOf(text) > kMaxDepth) return InvalidArgument("JSON that is nested more than 64 deep");
  nlohmann::ordered_json json = nlohmann::ordered_json::parse(text, nullptr, false);
  if (json.is_discarded()) return InvalidArgument("not JSON in UTF-8");
  return json;
}

}  // namespace gemmsmith
