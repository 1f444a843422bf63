// Parses an HTTP/1.x request: its head, and a body of announced length where the server takes one.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <variant>

namespace gemmsmith {

struct HttpRequest {
  std::string method, path;                    // the path without what follows a '?'
  std::map<std::string, std::string> headers;  // names in small letters
  std::string query, body;                     // what follows the '?'; empty where there is none

  std::string_view Header(std::string_view name) const;  // empty where it was not sent
  bool IsHead() const { return method == "HEAD"; }
};

// Why it is not answered, as HTTP counts reasons.
struct HttpRefusal {
  int status = 400;
  std::string reason;
};

struct NeedsMore {};
// The head is there, the body is not.
struct NeedsBody {
  HttpRequest head;
};
using ParsedRequest = std::variant<NeedsMore, NeedsBody, HttpRequest, HttpRefusal>;

// Parses the bytes received so far. Refuses a head of more than `most_bytes`, or an announced body of more than
// `most_body_bytes`, as early as possible. With 0 for the latter no body is looked for.
ParsedRequest ParseHttpRequest(std::string_view received, size_t most_bytes, size_t most_body_bytes = 0);

// The Host that a request to this port of this machine names. Pages of other sites reach a loopback server under names
// of their own (DNS rebinding), and must not read it.
bool IsLoopbackHost(std::string_view host, int port);

// Whether a page of this origin may ask a server on this port of this machine.
bool IsLoopbackOrigin(std::string_view origin, int port);

// Whether If-None-Match names this entity tag.
bool NamesTag(std::string_view if_none_match, std::string_view tag);

}  // namespace gemmsmith
