// Parses the head of an HTTP/1.x request. Bodies are not read, because only GET and HEAD are answered.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <variant>

namespace gemmsmith {

struct HttpRequest {
  std::string method, path;                    // the path without what follows a '?'
  std::map<std::string, std::string> headers;  // names in small letters

  std::string_view Header(std::string_view name) const;  // empty where it was not sent
  bool IsHead() const { return method == "HEAD"; }
};

// Why it is not answered, as HTTP counts reasons.
struct HttpRefusal {
  int status = 400;
  std::string reason;
};

struct NeedsMore {};
using ParsedRequest = std::variant<NeedsMore, HttpRequest, HttpRefusal>;

// Parses the bytes received so far. Refuses a head of more than `most_bytes` as early as possible.
ParsedRequest ParseHttpRequest(std::string_view received, size_t most_bytes);

// The Host that a request to this port of this machine names. Pages of other sites reach a loopback server under names
// of their own (DNS rebinding), and must not read it.
bool IsLoopbackHost(std::string_view host, int port);

// Whether If-None-Match names this entity tag.
bool NamesTag(std::string_view if_none_match, std::string_view tag);

}  // namespace gemmsmith
