#include "serve/http_server.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <list>
#include <system_error>
#include <thread>
#include <vector>

namespace gemmsmith {
namespace {

using SteadyClock = std::chrono::steady_clock;

constexpr int kPollMs = 200;
constexpr int kMaxAcceptedPerPoll = 16;
constexpr size_t kReadBytes = 4096;
// Input after an answer is read and dropped for a while. To close at once would reset the connection and might lose the
// answer.
constexpr std::chrono::seconds kDrainTime{1};

// Pages of other origins may not frame, read or guess the answers.
constexpr std::string_view kHeaders =
    "Cache-Control: no-cache\r\nX-Content-Type-Options: nosniff\r\nCross-Origin-Resource-Policy: same-origin\r\n"
    "Content-Security-Policy: frame-ancestors 'none'\r\nReferrer-Policy: no-referrer\r\nConnection: close\r\n";

std::string_view Phrase(int status) {
  switch (status) {
    case 200:
      return "OK";
    case 304:
      return "Not Modified";
    case 400:
      return "Bad Request";
    case 404:
      return "Not Found";
    case 405:
      return "Method Not Allowed";
    case 408:
      return "Request Timeout";
    case 431:
      return "Request Header Fields Too Large";
    case 505:
      return "HTTP Version Not Supported";
    default:
      return "Error";
  }
}

std::string HeadOf(const HttpAnswer& answer) {
  std::string head = fmt::format("HTTP/1.1 {} {}\r\n{}", answer.status, Phrase(answer.status), kHeaders);
  if (!answer.tag.empty()) head += fmt::format("ETag: {}\r\n", answer.tag);
  if (answer.status == 405) head += "Allow: GET, HEAD\r\n";
  if (answer.status != 304)
    head += fmt::format("Content-Type: {}\r\nContent-Length: {}\r\n", answer.content_type, answer.body->size());
  return head + "\r\n";
}

class Connection {
 public:
  Connection(int fd, const HttpLimits& limits)
      : fd_(fd), limits_(limits), deadline_(SteadyClock::now() + limits.request_time) {}
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;
  ~Connection() { close(fd_); }

  pollfd Wish() const { return {fd_, short(stage_ == Stage::kWriting ? POLLOUT : POLLIN), 0}; }
  SteadyClock::time_point deadline() const { return deadline_; }
  bool IsDone() const { return stage_ == Stage::kDone; }

  void Advance(short events, int port, const HttpHandler& handler) {
    if (events != 0) {
      if (stage_ == Stage::kWriting) return Write();
      Read();
      if (stage_ == Stage::kReading) Consider(port, handler);
    }
    if (SteadyClock::now() < deadline_ || stage_ == Stage::kDone) return;
    const bool is_half_asked = stage_ == Stage::kReading && !received_.empty();
    if (is_half_asked) return Send(PlainAnswer(408, "the request did not come to its end"), false);
    stage_ = Stage::kDone;
  }

 private:
  enum class Stage { kReading, kWriting, kDraining, kDone };

  void Read() {
    char buffer[kReadBytes];
    const ssize_t count = recv(fd_, buffer, sizeof buffer, 0);
    const bool is_over = count == 0 || (count < 0 && errno != EAGAIN && errno != EINTR);
    if (is_over) stage_ = Stage::kDone;
    if (count > 0 && stage_ == Stage::kReading) received_.append(buffer, size_t(count));
  }

  void Consider(int port, const HttpHandler& handler) {
    const ParsedRequest parsed = ParseHttpRequest(received_, limits_.request_bytes);
    if (const HttpRefusal* refusal = std::get_if<HttpRefusal>(&parsed))
      return Send(PlainAnswer(refusal->status, refusal->reason), false);
    if (const HttpRequest* request = std::get_if<HttpRequest>(&parsed))
      Send(AnswerTo(*request, port, handler), request->IsHead());
  }

  static HttpAnswer AnswerTo(const HttpRequest& request, int port, const HttpHandler& handler) {
    if (!IsLoopbackHost(request.Header("host"), port))
      return PlainAnswer(400,
                         fmt::format("this server answers as http://127.0.0.1:{0}/ and http://localhost:{0}/ only; "
                                     "a tunnel needs the same port at both ends",
                                     port));
    if (request.method != "GET" && request.method != "HEAD") return PlainAnswer(405, "only GET and HEAD");
    HttpAnswer answer = handler(request);
    if (answer.status == 200 && !answer.tag.empty() && NamesTag(request.Header("if-none-match"), answer.tag)) {
      answer.status = 304;
      answer.body = std::make_shared<const std::string>();
    }
    return answer;
  }

  void Send(const HttpAnswer& answer, bool head_alone) {
    head_ = HeadOf(answer);
    body_ = head_alone ? std::make_shared<const std::string>() : answer.body;
    stage_ = Stage::kWriting;
    deadline_ = SteadyClock::now() + limits_.answer_time;
    Write();
  }

  void Write() {
    while (sent_ < head_.size() + body_->size()) {
      const bool is_head = sent_ < head_.size();
      const std::string_view rest =
          is_head ? std::string_view(head_).substr(sent_) : std::string_view(*body_).substr(sent_ - head_.size());
      const ssize_t count = send(fd_, rest.data(), rest.size(), MSG_NOSIGNAL);
      if (count < 0 && errno == EINTR) continue;
      if (count < 0 && errno != EAGAIN) stage_ = Stage::kDone;
      if (count < 0) break;
      sent_ += size_t(count);
    }
    if (SteadyClock::now() >= deadline_) stage_ = Stage::kDone;
    if (sent_ < head_.size() + body_->size()) return;
    shutdown(fd_, SHUT_WR);
    stage_ = Stage::kDraining;
    deadline_ = SteadyClock::now() + kDrainTime;
  }

  const int fd_;
  const HttpLimits& limits_;
  Stage stage_ = Stage::kReading;
  SteadyClock::time_point deadline_;
  std::string received_, head_;
  std::shared_ptr<const std::string> body_;
  size_t sent_ = 0;
};

std::string ErrorText(int error) { return std::generic_category().message(error); }

Status CannotListen(int port, int error) {
  if (error == EADDRINUSE)
    return Unavailable(fmt::format("port {} of 127.0.0.1 is in use: choose another, or 0 for any free one", port));
  if (error == EACCES)
    return Unavailable(fmt::format("port {} needs root: choose one from 1024 up, or 0 for any free one", port));
  return Unavailable(fmt::format("cannot listen on port {} of 127.0.0.1: {}", port, ErrorText(error)));
}

}  // namespace

HttpAnswer PlainAnswer(int status, std::string text) {
  return {.status = status, .body = std::make_shared<const std::string>(std::move(text) + "\n")};
}

struct HttpServer::State {
  explicit State(HttpLimits asked) : limits(asked) {}
  ~State() {
    if (listener >= 0) close(listener);
  }

  void Accept();

  const HttpLimits limits;
  int listener = -1, port = 0;
  std::list<Connection> connections;
};

void HttpServer::State::Accept() {
  for (int i = 0; i < kMaxAcceptedPerPoll; ++i) {
    const int fd = accept4(listener, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (fd < 0) {
      // Out of descriptors or memory: the listener stays readable, and asking again at once would only burn time.
      const bool is_poor = errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM;
      if (is_poor) std::this_thread::sleep_for(std::chrono::milliseconds(kPollMs));
      return;
    }
    if (connections.size() >= limits.connections)
      connections.erase(std::min_element(connections.begin(), connections.end(),
                                         [](const auto& a, const auto& b) { return a.deadline() < b.deadline(); }));
    connections.emplace_back(fd, limits);
  }
}

HttpServer::HttpServer(std::unique_ptr<State> state) : state_(std::move(state)) {}
HttpServer::~HttpServer() = default;

Result<std::unique_ptr<HttpServer>> HttpServer::Listen(int port, HttpLimits limits) {
  auto state = std::make_unique<State>(limits);
  state->listener = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (state->listener < 0) return CannotListen(port, errno);
  const int yes = 1;
  setsockopt(state->listener, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  sockaddr_in address{.sin_family = AF_INET, .sin_port = htons(uint16_t(port)), .sin_addr = {htonl(INADDR_LOOPBACK)}};
  auto* const generic = reinterpret_cast<sockaddr*>(&address);
  socklen_t length = sizeof address;
  if (bind(state->listener, generic, length) != 0 || listen(state->listener, SOMAXCONN) != 0 ||
      getsockname(state->listener, generic, &length) != 0)
    return CannotListen(port, errno);
  state->port = ntohs(address.sin_port);
  return std::unique_ptr<HttpServer>(new HttpServer(std::move(state)));
}

int HttpServer::port() const { return state_->port; }

Status HttpServer::Serve(const HttpHandler& handler, const std::function<bool()>& stop) {
  while (!stop()) {
    std::vector<pollfd> wishes = {{state_->listener, POLLIN, 0}};
    for (const Connection& connection : state_->connections) wishes.push_back(connection.Wish());
    if (poll(wishes.data(), wishes.size(), kPollMs) < 0 && errno != EINTR)
      return IoError(fmt::format("waiting for connections: {}", ErrorText(errno)));
    size_t i = 0;
    for (Connection& connection : state_->connections) connection.Advance(wishes[++i].revents, state_->port, handler);
    state_->connections.remove_if([](const Connection& connection) { return connection.IsDone(); });
    if (wishes[0].revents != 0) state_->Accept();
  }
  return OkStatus();
}

}  // namespace gemmsmith
