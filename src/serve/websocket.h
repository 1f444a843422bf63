// The server's side of a WebSocket (RFC 6455) without input and output: handshake and frames. No extension is spoken.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

#include "serve/http_server.h"

namespace gemmsmith {

// The headers of the answer 101, or why the request opens no WebSocket.
std::variant<std::map<std::string, std::string>, HttpAnswer> AcceptWebSocket(const HttpRequest& request);

// Codes of a close.
inline constexpr uint16_t kCloseDone = 1000, kCloseProtocolError = 1002, kCloseNotText = 1003, kCloseNotUtf8 = 1007,
                          kClosePolicy = 1008, kCloseTooBig = 1009;

class WebSocket {
 public:
  // A client that sends a longer message, or more messages than are taken, is closed.
  explicit WebSocket(size_t most_message_bytes, size_t most_messages = 16)
      : most_message_bytes_(most_message_bytes), most_messages_(most_messages) {}

  // Bytes of the client in any pieces. Pings are answered. After a close they are dropped.
  void Receive(std::string_view bytes);
  // The next whole text message, in UTF-8.
  std::optional<std::string> TakeMessage();
  void Send(std::string_view text);
  // The first close counts. Nothing is sent after it.
  void Close(uint16_t code);
  // Bytes for the client since the last call.
  std::string TakeOutput() { return std::exchange(output_, {}); }
  // The close is among the output.
  bool IsClosed() const { return is_closed_; }

 private:
  struct Head {
    bool is_last = false;
    uint8_t opcode = 0;
    uint64_t payload_bytes = 0;
    size_t head_bytes = 0;  // the mask included
  };

  // nullopt: not all of it is there, or the socket was closed for it.
  std::optional<Head> ReadHead(std::string_view bytes);
  void Take(const Head& head, std::string_view payload);
  void TakeData(const Head& head, std::string_view payload);
  void TakeClose(std::string_view payload);
  void SendFrame(uint8_t opcode, std::string_view payload);

  const size_t most_message_bytes_, most_messages_;
  std::string input_, output_;
  std::optional<std::string> begun_;  // of a message whose last frame did not come yet
  std::deque<std::string> messages_;
  bool is_closed_ = false;
};

}  // namespace gemmsmith
