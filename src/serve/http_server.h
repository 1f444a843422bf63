// A small HTTP/1.1 server for browsers of this machine: on 127.0.0.1 only, GET and HEAD, one request a connection.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>

#include "base/status.h"
#include "serve/http_request.h"

namespace gemmsmith {

struct HttpAnswer {
  int status = 200;
  std::string content_type = "text/plain; charset=utf-8";
  std::shared_ptr<const std::string> body = std::make_shared<const std::string>();
  std::string tag;  // in quotes; whoever has the body of this tag is told so with 304. Empty: no tag
};
HttpAnswer PlainAnswer(int status, std::string text);

// Called between answers, by one thread: quick.
using HttpHandler = std::function<HttpAnswer(const HttpRequest&)>;

struct HttpLimits {
  size_t request_bytes = 8192;
  size_t connections = 64;  // with more, the one whose time is up first is closed
  std::chrono::milliseconds request_time{10'000}, answer_time{120'000};
};

class HttpServer {
 public:
  // Port 0: any free one. Unavailable, with what to do, where the port cannot be had.
  static Result<std::unique_ptr<HttpServer>> Listen(int port, HttpLimits limits = {});
  ~HttpServer();

  int port() const;
  // Serves until `stop` returns true; asks it several times a second. The handler sees GET and HEAD requests that are
  // well formed and name this server.
  Status Serve(const HttpHandler& handler, const std::function<bool()>& stop);

 private:
  struct State;
  explicit HttpServer(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace gemmsmith
