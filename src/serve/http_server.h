// A small HTTP/1.1 server, one request a connection: for browsers of this machine (GET and HEAD on 127.0.0.1), and for
// programs (POST and DELETE, other addresses behind a token).
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "base/status.h"
#include "serve/http_request.h"

namespace gemmsmith {

struct HttpAnswer {
  int status = 200;
  std::string content_type = "text/plain; charset=utf-8";
  std::shared_ptr<const std::string> body = std::make_shared<const std::string>();
  std::string tag;              // in quotes; whoever has the body of this tag is told so with 304. Empty: no tag
  int retry_after_seconds = 0;  // of a 429 or 503; 0: not said
  std::map<std::string, std::string> headers = {};  // further ones, and Allow of a 405
};
HttpAnswer PlainAnswer(int status, std::string text);

// An answer that is waited for: asked several times a second until it is there.
using HttpPending = std::function<std::optional<HttpAnswer>()>;

// The further bytes of a connection that was upgraded to another protocol.
class HttpStream {
 public:
  virtual ~HttpStream() = default;
  virtual void Receive(std::string_view bytes) = 0;
  // Bytes for the client; asked after each Receive(), and several times a second while IsWaiting().
  virtual std::string TakeOutput() = 0;
  virtual bool IsWaiting() const = 0;
  // The connection ends when the output is sent.
  virtual bool IsOver() const = 0;
};
// 101 with these headers.
struct HttpUpgrade {
  std::map<std::string, std::string> headers;
  std::shared_ptr<HttpStream> stream;
};

using HttpReply = std::variant<HttpAnswer, HttpPending, HttpUpgrade>;
// Called between answers, by one thread: quick. So are the pending answers and the streams.
using HttpHandler = std::function<HttpReply(const HttpRequest&)>;

struct HttpAccess {
  std::string address = "127.0.0.1";  // IPv4; another one needs a token
  std::string token;                  // where there is one, requests without it are refused before their body is read
};

struct HttpLimits {
  size_t request_bytes = 8192;
  size_t body_bytes = 0;    // 0: GET and HEAD only; else DELETE too, and POST of application/json
  size_t connections = 64;  // with more, the one whose time is up first is closed
  std::chrono::milliseconds request_time{10'000}, answer_time{120'000};
};

class HttpServer {
 public:
  // Port 0: any free one. Unavailable, with what to do, where the port cannot be had.
  static Result<std::unique_ptr<HttpServer>> Listen(int port, HttpLimits limits = {}, HttpAccess access = {});
  ~HttpServer();

  int port() const;
  // Serves until `stop` returns true; asks it several times a second. The handler sees requests that are well formed,
  // name this server, and have the token.
  Status Serve(const HttpHandler& handler, const std::function<bool()>& stop);

 private:
  struct State;
  explicit HttpServer(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace gemmsmith
