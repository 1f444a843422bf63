// The other end of a loopback server, for tests: sends what it is told to, however wrong.
#pragma once

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <string>
#include <string_view>
#include <utility>

namespace gemmsmith {

class LoopbackClient {
 public:
  explicit LoopbackClient(int port) : fd_(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(uint16_t(port));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    is_connected_ = connect(fd_, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0;
  }
  LoopbackClient(LoopbackClient&& other) noexcept
      : fd_(std::exchange(other.fd_, -1)), is_connected_(other.is_connected_) {}
  LoopbackClient& operator=(LoopbackClient&&) = delete;
  ~LoopbackClient() {
    if (fd_ >= 0) close(fd_);
  }

  bool is_connected() const { return is_connected_; }

  // As much as the server takes.
  void Send(std::string_view bytes) const {
    while (!bytes.empty()) {
      const ssize_t count = send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (count <= 0) return;
      bytes.remove_prefix(size_t(count));
    }
  }

  std::string ReadToEnd() const {
    std::string answer;
    char buffer[65536];
    for (ssize_t count = 0; (count = recv(fd_, buffer, sizeof buffer, 0)) > 0;) answer.append(buffer, size_t(count));
    return answer;
  }

  std::string Ask(std::string_view request) const {
    Send(request);
    return ReadToEnd();
  }

 private:
  int fd_;
  bool is_connected_ = false;
};

}  // namespace gemmsmith
