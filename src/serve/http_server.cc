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

constexpr int kPollMs = 200, kPendingPollMs = 20;
constexpr int kMaxAcceptedPerPoll = 16;
constexpr size_t kReadBytes = 65536;
// A stream whose client takes no more than this is not read from.
constexpr size_t kMostUnsentBytes = size_t{1} << 20;
// Input after an answer is read and dropped for a while. To close at once would reset the connection and might lose the
// answer.
constexpr std::chrono::seconds kDrainTime{1};

// Pages of other origins may not frame, read or guess the answers.
constexpr std::string_view kHeaders =
    "Cache-Control: no-cache\r\nX-Content-Type-Options: nosniff\r\nCross-Origin-Resource-Policy: same-origin\r\n"
    "Content-Security-Policy: frame-ancestors 'none'\r\nReferrer-Policy: no-referrer\r\nConnection: close\r\n";

std::string Lines(const std::map<std::string, std::string>& headers) {
  std::string lines;
  for (const auto& [name, value] : headers) lines += fmt::format("{}: {}\r\n", name, value);
  return lines;
}

std::string_view Phrase(int status) {
  switch (status) {
    case 101:
      return "Switching Protocols";
    case 200:
      return "OK";
    case 202:
      return "Accepted";
    case 304:
      return "Not Modified";
    case 400:
      return "Bad Request";
    case 401:
      return "Unauthorized";
    case 403:
      return "Forbidden";
    case 404:
      return "Not Found";
    case 405:
      return "Method Not Allowed";
    case 406:
      return "Not Acceptable";
    case 408:
      return "Request Timeout";
    case 411:
      return "Length Required";
    case 413:
      return "Content Too Large";
    case 415:
      return "Unsupported Media Type";
    case 426:
      return "Upgrade Required";
    case 429:
      return "Too Many Requests";
    case 431:
      return "Request Header Fields Too Large";
    case 501:
      return "Not Implemented";
    case 503:
      return "Service Unavailable";
    case 505:
      return "HTTP Version Not Supported";
    default:
      return "Error";
  }
}

std::string HeadOf(const HttpAnswer& answer, bool takes_bodies) {
  std::string head = fmt::format("HTTP/1.1 {} {}\r\n{}", answer.status, Phrase(answer.status), kHeaders);
  if (!answer.tag.empty()) head += fmt::format("ETag: {}\r\n", answer.tag);
  if (answer.status == 405 && !answer.headers.contains("Allow"))
    head += fmt::format("Allow: GET, HEAD{}\r\n", takes_bodies ? ", POST" : "");
  head += Lines(answer.headers);
  if (answer.status == 401) head += "WWW-Authenticate: Bearer\r\n";
  if (answer.retry_after_seconds > 0) head += fmt::format("Retry-After: {}\r\n", answer.retry_after_seconds);
  if (answer.status != 304)
    head += fmt::format("Content-Type: {}\r\nContent-Length: {}\r\n", answer.content_type, answer.body->size());
  return head + "\r\n";
}

// What all connections of a server share.
struct ServerTerms {
  HttpLimits limits;
  HttpAccess access;
  int port = 0;
};

// Takes as long for a wrong token as for a right one.
bool HasToken(const HttpRequest& request, std::string_view token) {
  const std::string wanted = fmt::format("Bearer {}", token);
  const std::string_view given = request.Header("authorization");
  unsigned char difference = given.size() != wanted.size();
  for (size_t i = 0; i < given.size(); ++i) difference |= given[i] ^ wanted[i % wanted.size()];
  return difference == 0;
}

// Why a request is not for the handler, as far as its head says.
std::optional<HttpAnswer> WhyRefused(const HttpRequest& request, const ServerTerms& terms) {
  const int port = terms.port;
  if (!terms.access.token.empty()) {
    if (!HasToken(request, terms.access.token))
      return PlainAnswer(401, "the header Authorization: Bearer TOKEN is wrong");
  } else if (!IsLoopbackHost(request.Header("host"), port)) {
    return PlainAnswer(400, fmt::format("this server answers as http://127.0.0.1:{0}/ and http://localhost:{0}/ only; "
                                        "a tunnel needs the same port at both ends",
                                        port));
  }
  const bool takes_bodies = terms.limits.body_bytes > 0, is_post = request.method == "POST";
  const bool is_for_programs = is_post || request.method == "DELETE";
  if (request.method != "GET" && request.method != "HEAD" && !(takes_bodies && is_for_programs))
    return PlainAnswer(405, takes_bodies ? "only GET, HEAD, POST and DELETE" : "only GET and HEAD");
  // Pages of other sites may send simple requests here unasked.
  const std::string_view origin = request.Header("origin"), type = request.Header("content-type");
  if (!origin.empty() && !IsLoopbackOrigin(origin, port)) return PlainAnswer(403, "a page of another origin asks");
  if (is_post && type.substr(0, type.find(';')) != "application/json")
    return PlainAnswer(415, "a POST has the header Content-Type: application/json");
  return std::nullopt;
}

class Connection {
 public:
  Connection(int fd, const ServerTerms& terms)
      : fd_(fd), terms_(terms), deadline_(SteadyClock::now() + terms.limits.request_time) {}
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;
  ~Connection() { close(fd_); }

  pollfd Wish() const {
    if (stage_ == Stage::kWaiting) return {fd_, POLLRDHUP, 0};
    if (stage_ == Stage::kStreaming) return {fd_, StreamWish(), 0};
    return {fd_, short(stage_ == Stage::kWriting ? POLLOUT : POLLIN), 0};
  }
  SteadyClock::time_point deadline() const { return deadline_; }
  bool IsDone() const { return stage_ == Stage::kDone; }
  bool IsWaiting() const { return stage_ == Stage::kWaiting || (stage_ == Stage::kStreaming && stream_->IsWaiting()); }

  void Advance(short events, const HttpHandler& handler) {
    if (stage_ == Stage::kWaiting) return AskAgain(events);
    if (stage_ == Stage::kStreaming) return Stream(events);
    if (events != 0) {
      if (stage_ == Stage::kWriting) return Write();
      Read();
      if (stage_ == Stage::kReading) Consider(handler);
    }
    if (SteadyClock::now() < deadline_ || stage_ == Stage::kDone || stage_ == Stage::kWaiting) return;
    const bool is_half_asked = stage_ == Stage::kReading && !received_.empty();
    if (is_half_asked) return Send(PlainAnswer(408, "the request did not come to its end"), false);
    stage_ = Stage::kDone;
  }

 private:
  enum class Stage { kReading, kWaiting, kStreaming, kWriting, kDraining, kDone };

  void Read() {
    char buffer[kReadBytes];
    const ssize_t count = recv(fd_, buffer, sizeof buffer, 0);
    const bool is_over = count == 0 || (count < 0 && errno != EAGAIN && errno != EINTR);
    if (is_over) stage_ = Stage::kDone;
    if (count <= 0) return;
    if (stage_ == Stage::kReading) received_.append(buffer, size_t(count));
    if (stage_ == Stage::kStreaming) stream_->Receive({buffer, size_t(count)});
  }

  short StreamWish() const {
    const bool reads = unsent_.size() < kMostUnsentBytes;
    return short((reads ? POLLIN : 0) | (unsent_.empty() ? 0 : POLLOUT));
  }

  void Upgrade(const HttpUpgrade& upgrade, const HttpRequest& request) {
    stream_ = upgrade.stream;
    // What came in one piece with the request.
    stream_->Receive(std::string_view(received_).substr(received_.find("\r\n\r\n") + 4 + request.body.size()));
    unsent_ = fmt::format("HTTP/1.1 101 {}\r\n{}\r\n", Phrase(101), Lines(upgrade.headers));
    stage_ = Stage::kStreaming;
    deadline_ = SteadyClock::now() + terms_.limits.answer_time;
    Stream(0);
  }

  void Stream(short events) {
    if ((events & POLLIN) != 0) Read();
    if ((events & (POLLHUP | POLLERR)) != 0) stage_ = Stage::kDone;
    if (stage_ == Stage::kDone) return;
    if (events != 0) deadline_ = SteadyClock::now() + terms_.limits.answer_time;  // for the choice of one to close
    unsent_ += stream_->TakeOutput();
    while (!unsent_.empty()) {
      const ssize_t count = send(fd_, unsent_.data(), unsent_.size(), MSG_NOSIGNAL);
      if (count < 0 && errno == EINTR) continue;
      if (count < 0 && errno != EAGAIN) stage_ = Stage::kDone;
      if (count < 0) return;
      unsent_.erase(0, size_t(count));
    }
    if (stream_->IsOver()) Drain();
  }

  void Drain() {
    shutdown(fd_, SHUT_WR);
    stage_ = Stage::kDraining;
    deadline_ = SteadyClock::now() + kDrainTime;
  }

  void Consider(const HttpHandler& handler) {
    const ParsedRequest parsed = ParseHttpRequest(received_, terms_.limits.request_bytes, terms_.limits.body_bytes);
    if (const HttpRefusal* refusal = std::get_if<HttpRefusal>(&parsed))
      return Send(PlainAnswer(refusal->status, refusal->reason), false);
    if (const NeedsBody* needs = std::get_if<NeedsBody>(&parsed)) return ConsiderHead(needs->head);
    if (const HttpRequest* request = std::get_if<HttpRequest>(&parsed)) AnswerTo(*request, handler);
  }

  // Before the body is there.
  void ConsiderHead(const HttpRequest& head) {
    if (std::optional<HttpAnswer> refusal = WhyRefused(head, terms_)) return Send(*refusal, head.IsHead());
    if (was_told_to_go_on_ || head.Header("expect") != "100-continue") return;
    was_told_to_go_on_ = true;
    constexpr std::string_view kGoOn = "HTTP/1.1 100 Continue\r\n\r\n";
    (void)send(fd_, kGoOn.data(), kGoOn.size(), MSG_NOSIGNAL);  // a client that misses it goes on by itself
  }

  void AnswerTo(const HttpRequest& request, const HttpHandler& handler) {
    if (const std::optional<HttpAnswer> refusal = WhyRefused(request, terms_)) return Send(*refusal, request.IsHead());
    HttpReply reply = handler(request);
    if (HttpPending* const pending = std::get_if<HttpPending>(&reply)) {
      pending_ = std::move(*pending);
      is_head_ = request.IsHead();
      stage_ = Stage::kWaiting;
      deadline_ = SteadyClock::now() + terms_.limits.answer_time;  // for the choice of a connection to close
      return AskAgain(0);
    }
    if (const HttpUpgrade* const upgrade = std::get_if<HttpUpgrade>(&reply)) return Upgrade(*upgrade, request);
    HttpAnswer& answer = std::get<HttpAnswer>(reply);
    if (answer.status == 200 && !answer.tag.empty() && NamesTag(request.Header("if-none-match"), answer.tag)) {
      answer.status = 304;
      answer.body = std::make_shared<const std::string>();
    }
    Send(answer, request.IsHead());
  }

  // Who closed one direction is taken as gone, as other servers take it: a close of both looks the same from here.
  void AskAgain(short events) {
    if ((events & (POLLHUP | POLLERR | POLLRDHUP)) != 0) stage_ = Stage::kDone;
    if (stage_ == Stage::kDone) return;
    if (const std::optional<HttpAnswer> answer = pending_()) Send(*answer, is_head_);
  }

  void Send(const HttpAnswer& answer, bool head_alone) {
    head_ = HeadOf(answer, terms_.limits.body_bytes > 0);
    body_ = head_alone ? std::make_shared<const std::string>() : answer.body;
    stage_ = Stage::kWriting;
    deadline_ = SteadyClock::now() + terms_.limits.answer_time;
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
    if (sent_ == head_.size() + body_->size()) Drain();
  }

  const int fd_;
  const ServerTerms& terms_;
  HttpPending pending_;
  std::shared_ptr<HttpStream> stream_;
  bool is_head_ = false, was_told_to_go_on_ = false;
  Stage stage_ = Stage::kReading;
  SteadyClock::time_point deadline_;
  std::string received_, head_, unsent_;
  std::shared_ptr<const std::string> body_;
  size_t sent_ = 0;
};

std::string ErrorText(int error) { return std::generic_category().message(error); }

Status CannotListen(int port, std::string_view address, int error) {
  if (error == EADDRINUSE)
    return Unavailable(fmt::format("port {} of {} is in use: choose another, or 0 for any free one", port, address));
  if (error == EACCES)
    return Unavailable(fmt::format("port {} needs root: choose one from 1024 up, or 0 for any free one", port));
  return Unavailable(fmt::format("cannot listen on port {} of {}: {}", port, address, ErrorText(error)));
}

Result<in_addr> AddressOf(const HttpAccess& access) {
  in_addr address{};
  if (inet_pton(AF_INET, access.address.c_str(), &address) != 1)
    return InvalidArgument(fmt::format("'{}' is no IPv4 address, as in 127.0.0.1", access.address));
  if (ntohl(address.s_addr) != INADDR_LOOPBACK && access.token.empty())
    return InvalidArgument(fmt::format("{} is open to other machines: it needs a token", access.address));
  return address;
}

}  // namespace

HttpAnswer PlainAnswer(int status, std::string text) {
  return {.status = status, .body = std::make_shared<const std::string>(std::move(text) + "\n")};
}

struct HttpServer::State {
  explicit State(ServerTerms asked) : terms(std::move(asked)) {}
  ~State() {
    if (listener >= 0) close(listener);
  }

  void Accept();

  ServerTerms terms;
  int listener = -1;
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
    if (connections.size() >= terms.limits.connections)
      connections.erase(std::min_element(connections.begin(), connections.end(),
                                         [](const auto& a, const auto& b) { return a.deadline() < b.deadline(); }));
    connections.emplace_back(fd, terms);
  }
}

HttpServer::HttpServer(std::unique_ptr<State> state) : state_(std::move(state)) {}
HttpServer::~HttpServer() = default;

Result<std::unique_ptr<HttpServer>> HttpServer::Listen(int port, HttpLimits limits, HttpAccess access) {
  ASSIGN_OR_RETURN(const in_addr place, AddressOf(access));
  auto state = std::make_unique<State>(ServerTerms{limits, access, port});
  state->listener = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (state->listener < 0) return CannotListen(port, access.address, errno);
  const int yes = 1;
  setsockopt(state->listener, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  sockaddr_in address{.sin_family = AF_INET, .sin_port = htons(uint16_t(port)), .sin_addr = place};
  auto* const generic = reinterpret_cast<sockaddr*>(&address);
  socklen_t length = sizeof address;
  if (bind(state->listener, generic, length) != 0 || listen(state->listener, SOMAXCONN) != 0 ||
      getsockname(state->listener, generic, &length) != 0)
    return CannotListen(port, access.address, errno);
  state->terms.port = ntohs(address.sin_port);
  return std::unique_ptr<HttpServer>(new HttpServer(std::move(state)));
}

int HttpServer::port() const { return state_->terms.port; }

Status HttpServer::Serve(const HttpHandler& handler, const std::function<bool()>& stop) {
  while (!stop()) {
    std::vector<pollfd> wishes = {{state_->listener, POLLIN, 0}};
    bool is_any_waiting = false;
    for (const Connection& connection : state_->connections) {
      wishes.push_back(connection.Wish());
      is_any_waiting = is_any_waiting || connection.IsWaiting();
    }
    if (poll(wishes.data(), wishes.size(), is_any_waiting ? kPendingPollMs : kPollMs) < 0 && errno != EINTR)
      return IoError(fmt::format("waiting for connections: {}", ErrorText(errno)));
    size_t i = 0;
    for (Connection& connection : state_->connections) connection.Advance(wishes[++i].revents, handler);
    state_->connections.remove_if([](const Connection& connection) { return connection.IsDone(); });
    if (wishes[0].revents != 0) state_->Accept();
  }
  return OkStatus();
}

}  // namespace gemmsmith
