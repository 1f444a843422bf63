#include "serve/http_request.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "base/lower_case.h"
#include "base/text.h"
#include "base/trimmed.h"

namespace gemmsmith {
namespace {

constexpr size_t kMaxHeaders = 100;
constexpr std::string_view kLineEnd = "\r\n", kHeadEnd = "\r\n\r\n";

// The characters of method and header names.
bool IsToken(std::string_view text) {
  constexpr std::string_view kMarks = "!#$%&'*+-.^_`|~";
  return !text.empty() && std::all_of(text.begin(), text.end(), [&](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           kMarks.find(c) != std::string_view::npos;
  });
}

std::optional<HttpRefusal> ReadRequestLine(std::string_view line, HttpRequest& request) {
  const std::vector<std::string_view> words = Split(line, ' ');
  if (words.size() != 3 || !IsToken(words[0])) return HttpRefusal{400, "the first line is not METHOD PATH HTTP/1.1"};
  if (words[2] != "HTTP/1.1" && words[2] != "HTTP/1.0")
    return words[2].starts_with("HTTP/") ? HttpRefusal{505, "only HTTP/1.1 and HTTP/1.0 are spoken here"}
                                         : HttpRefusal{400, "the first line does not end in HTTP/1.1"};
  if (!words[1].starts_with('/') || std::any_of(words[1].begin(), words[1].end(), IsControl))
    return HttpRefusal{400, "the path does not begin with /"};
  request.method = words[0];
  const size_t mark = words[1].find('?');
  request.path = words[1].substr(0, mark);
  if (mark != std::string_view::npos) request.query = words[1].substr(mark + 1);
  return std::nullopt;
}

std::optional<HttpRefusal> ReadHeader(std::string_view line, HttpRequest& request) {
  const size_t colon = line.find(':');
  if (colon == std::string_view::npos || !IsToken(line.substr(0, colon)))
    return HttpRefusal{400, "a header is not NAME: VALUE"};
  const std::string_view value = Trimmed(line.substr(colon + 1));
  if (std::any_of(value.begin(), value.end(), [](char c) { return IsControl(c) && c != '\t'; }))
    return HttpRefusal{400, "a header holds control characters"};
  const auto [place, is_new] = request.headers.emplace(Lowered(line.substr(0, colon)), value);
  if (is_new) return std::nullopt;
  if (place->first == "host") return HttpRefusal{400, "there are two Host headers"};
  place->second.append(", ").append(value);
  return std::nullopt;
}

ParsedRequest ParseHead(std::string_view head) {
  HttpRequest request;
  size_t lines = 0;
  while (true) {
    const size_t end = head.find(kLineEnd);
    const std::string_view line = head.substr(0, end);
    if (lines > kMaxHeaders) return HttpRefusal{431, fmt::format("more than {} headers", kMaxHeaders)};
    std::optional<HttpRefusal> refusal = lines++ == 0 ? ReadRequestLine(line, request) : ReadHeader(line, request);
    if (refusal) return *std::move(refusal);
    if (end == std::string_view::npos) return request;
    head.remove_prefix(end + kLineEnd.size());
  }
}

ParsedRequest WithBody(HttpRequest request, std::string_view received, size_t most_bytes) {
  if (!request.Header("transfer-encoding").empty())
    return HttpRefusal{501, "a body needs a Content-Length; transfer encodings are not read"};
  const std::string_view length = request.Header("content-length");
  if (length.empty() && request.method == "POST") return HttpRefusal{411, "a POST needs a Content-Length"};
  const std::optional<long long> bytes = length.empty() ? 0 : ParseInteger(length);
  if (!bytes || *bytes < 0) return HttpRefusal{400, "the Content-Length is no number"};
  if (size_t(*bytes) > most_bytes) return HttpRefusal{413, fmt::format("a body of more than {} bytes", most_bytes)};
  if (received.size() < size_t(*bytes)) return NeedsBody{std::move(request)};
  request.body = received.substr(0, size_t(*bytes));
  return request;
}

}  // namespace

std::string_view HttpRequest::Header(std::string_view name) const {
  const auto found = headers.find(std::string(name));
  return found == headers.end() ? std::string_view() : found->second;
}

ParsedRequest ParseHttpRequest(std::string_view received, size_t most_bytes, size_t most_body_bytes) {
  const size_t end = received.find(kHeadEnd);
  const size_t head_bytes = end == std::string_view::npos ? received.size() : end + kHeadEnd.size();
  if (head_bytes > most_bytes) return HttpRefusal{431, fmt::format("a request of more than {} bytes", most_bytes)};
  if (end == std::string_view::npos) return NeedsMore{};
  ParsedRequest head = ParseHead(received.substr(0, end));
  HttpRequest* const request = std::get_if<HttpRequest>(&head);
  if (request == nullptr || most_body_bytes == 0) return head;
  return WithBody(std::move(*request), received.substr(head_bytes), most_body_bytes);
}

bool IsLoopbackHost(std::string_view host, int port) {
  const std::string lower = Lowered(host);
  for (const std::string_view name : {"127.0.0.1", "localhost"})
    if (lower == fmt::format("{}:{}", name, port) || (port == 80 && lower == name)) return true;
  return false;
}

bool IsLoopbackOrigin(std::string_view origin, int port) {
  constexpr std::string_view kScheme = "http://";
  return origin.starts_with(kScheme) && IsLoopbackHost(origin.substr(kScheme.size()), port);
}

bool NamesTag(std::string_view if_none_match, std::string_view tag) {
  for (std::string_view word : Split(if_none_match, ',')) {
    word = Trimmed(word);
    if (word.starts_with("W/")) word.remove_prefix(2);
    if (!word.empty() && (word == tag || word == "*")) return true;
  }
  return false;
}

}  // namespace gemmsmith
