// For any input: no crash, a refusal has a reason, and a parsed request cannot break out of a line.
#include "base/check.h"
#include "base/text.h"
#include "serve/http_request.h"

namespace {

bool HasControls(std::string_view text) {
  for (const char c : text)
    if (IsControl(c) && c != '\t') return true;
  return false;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace gemmsmith;
  constexpr size_t kMaxBytes = 4096;
  const std::string_view received(reinterpret_cast<const char*>(data), size);
  const ParsedRequest parsed = ParseHttpRequest(received, kMaxBytes);
  static_cast<void>(ParseHttpRequest(received, kMaxBytes, kMaxBytes));
  if (std::holds_alternative<NeedsMore>(parsed)) {
    GEMMSMITH_CHECK(size <= kMaxBytes, "waits for more after {} bytes", size);
  } else if (const HttpRefusal* refusal = std::get_if<HttpRefusal>(&parsed)) {
    GEMMSMITH_CHECK(!refusal->reason.empty() && refusal->status >= 400, "{}", refusal->status);
  } else {
    const HttpRequest& request = std::get<HttpRequest>(parsed);
    GEMMSMITH_CHECK(request.path.starts_with('/') && !HasControls(request.path), "{}", request.path);
    for (const auto& [name, value] : request.headers)
      GEMMSMITH_CHECK(!HasControls(name) && !HasControls(value), "{}: {}", name, value);
    static_cast<void>(IsLoopbackHost(request.Header("host"), 80));
    static_cast<void>(NamesTag(request.Header("if-none-match"), "\"tag\""));
  }
  return 0;
}
