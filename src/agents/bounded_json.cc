#include "agents/bounded_json.h"

#include <array>
#include <nlohmann/json.hpp>

namespace gemmsmith {
namespace {

constexpr size_t kMaxDepth = 64;
constexpr int kMaxMembers = 512;

// Of a text that is JSON: why it is larger than any message; empty where it is not.
std::string_view ExcessOf(std::string_view text) {
  std::array<int, kMaxDepth + 1> members{};  // of the open objects
  size_t depth = 0;
  bool in_string = false;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (in_string && c == '\\') ++i;
    if (c == '"') in_string = !in_string;
    if (in_string) continue;
    if (c == '[' || c == '{') {
      if (depth == kMaxDepth) return "nested more than 64 deep";
      members[++depth] = 0;
    }
    if ((c == ']' || c == '}') && depth > 0) --depth;
    if (c == ':' && ++members[depth] > kMaxMembers) return "with an object of more than 512 members";
  }
  return "";
}

}  // namespace

Result<nlohmann::ordered_json> ParseBoundedJson(std::string_view text) {
  if (const std::string_view excess = ExcessOf(text); !excess.empty())
    return InvalidArgument("JSON " + std::string(excess));
  nlohmann::ordered_json json = nlohmann::ordered_json::parse(text, nullptr, false);
  if (json.is_discarded()) return InvalidArgument("not JSON in UTF-8");
  return json;
}

}  // namespace gemmsmith
