// Requests over HTTP and HTTPS, by libcurl, which is opened at run time.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "base/status.h"

namespace gemmsmith {

struct HttpResponse {
  long status = 0;
  std::string body;
  std::optional<double> retry_after_seconds;
};

struct HttpCall {
  std::string url;
  std::string bearer;               // empty: no such header
  std::optional<std::string> body;  // JSON, by POST; nullopt: GET
  double seconds = 600;             // the most
  std::function<bool()> stop;       // asked about once a second
};

class HttpClient {
 public:
  // Unavailable, with what to install, where libcurl is not there.
  static Result<std::unique_ptr<HttpClient>> Open();
  virtual ~HttpClient() = default;
  // Safe from many threads. Unavailable where no response came, with the reason; Interrupted where `stop` said so.
  virtual Result<HttpResponse> Call(const HttpCall& call) const = 0;
};

}  // namespace gemmsmith
