#include "serve/websocket.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "base/utf8.h"
#include "serve/sha1.h"

namespace gemmsmith {
namespace {

constexpr uint8_t kContinued = 0, kText = 1, kBinary = 2, kClose = 8, kPing = 9, kPong = 10;
constexpr uint8_t kLastBit = 0x80, kReservedBits = 0x70, kMaskBit = 0x80;
constexpr uint8_t kShortLength = 126, kLongLength = 127;
constexpr size_t kMaskBytes = 4, kMaxControlBytes = 125;
constexpr std::string_view kBase64 = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

// Of 20 bytes: the last group has two of its three.
std::string Base64(const std::array<uint8_t, 20>& bytes) {
  std::string text;
  for (size_t i = 0; i < bytes.size(); i += 3) {
    const uint32_t third = i + 2 < bytes.size() ? bytes[i + 2] : 0;
    const uint32_t group = uint32_t(bytes[i]) << 16 | uint32_t(bytes[i + 1]) << 8 | third;
    for (const int shift : {18, 12, 6, 0}) text += kBase64[group >> shift & 63];
  }
  text.back() = '=';
  return text;
}

// 16 bytes in base64.
bool IsKey(std::string_view key) {
  return key.size() == 24 && key.ends_with("==") && key.find_first_not_of(kBase64) == 22;
}

bool SaysWord(std::string_view header, std::string_view word) {
  const auto is_same = [](char a, char b) { return (a >= 'A' && a <= 'Z' ? char(a - 'A' + 'a') : a) == b; };
  for (const std::string_view part : Split(header, ','))
    for (const std::string_view one : SplitWords(part))
      if (std::equal(one.begin(), one.end(), word.begin(), word.end(), is_same)) return true;
  return false;
}

bool IsCloseCode(uint16_t code) {
  return (code >= 1000 && code <= 1003) || (code >= 1007 && code <= 1014) || (code >= 3000 && code <= 4999);
}

uint64_t BigEndianIn(std::string_view bytes) {
  uint64_t value = 0;
  for (const char byte : bytes) value = value << 8 | uint8_t(byte);
  return value;
}

std::string InBigEndian(uint64_t value, int bytes) {
  std::string text;
  for (int shift = 8 * (bytes - 1); shift >= 0; shift -= 8) text += char(value >> shift & 0xff);
  return text;
}

}  // namespace

std::variant<std::map<std::string, std::string>, HttpAnswer> AcceptWebSocket(const HttpRequest& request) {
  constexpr std::string_view kMagic = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";
  const std::string_view key = request.Header("sec-websocket-key");
  if (request.method != "GET" || !SaysWord(request.Header("upgrade"), "websocket") ||
      !SaysWord(request.Header("connection"), "upgrade"))
    return PlainAnswer(400, "this path speaks WebSocket: GET with Upgrade: websocket");
  if (request.Header("sec-websocket-version") != "13") {
    HttpAnswer answer = PlainAnswer(426, "only version 13 of WebSocket is spoken");
    answer.headers["Sec-WebSocket-Version"] = "13";
    return answer;
  }
  if (!IsKey(key)) return PlainAnswer(400, "the header Sec-WebSocket-Key is not 16 bytes in base64");
  return std::map<std::string, std::string>{{"Upgrade", "websocket"},
                                            {"Connection", "Upgrade"},
                                            {"Sec-WebSocket-Accept", Base64(Sha1(std::string(key).append(kMagic)))}};
}

void WebSocket::Receive(std::string_view bytes) {
  if (is_closed_) return;
  input_ += bytes;
  size_t at = 0;
  while (const std::optional<Head> head = ReadHead(std::string_view(input_).substr(at))) {
    const std::string mask = input_.substr(at + head->head_bytes - kMaskBytes, kMaskBytes);
    std::string payload = input_.substr(at + head->head_bytes, head->payload_bytes);
    for (size_t i = 0; i < payload.size(); ++i) payload[i] = char(payload[i] ^ mask[i % kMaskBytes]);
    at += head->head_bytes + head->payload_bytes;
    Take(*head, payload);
    if (is_closed_) break;
  }
  if (is_closed_)
    input_.clear(), messages_.clear();
  else
    input_.erase(0, at);
}

std::optional<WebSocket::Head> WebSocket::ReadHead(std::string_view bytes) {
  if (bytes.size() < 2) return std::nullopt;
  const uint8_t first = uint8_t(bytes[0]), second = uint8_t(bytes[1]), length = second & ~kMaskBit;
  Head head{.is_last = (first & kLastBit) != 0, .opcode = uint8_t(first & 15), .payload_bytes = length};
  const bool is_control = head.opcode >= kClose;
  const bool is_known = head.opcode <= kBinary || (is_control && head.opcode <= kPong);
  const bool is_wrong_control = is_control && (!head.is_last || length > kMaxControlBytes);
  if ((first & kReservedBits) != 0 || (second & kMaskBit) == 0 || !is_known || is_wrong_control)
    return Close(kCloseProtocolError), std::nullopt;
  const size_t length_bytes = length == kShortLength ? 2 : length == kLongLength ? 8 : 0;
  if (bytes.size() < 2 + length_bytes) return std::nullopt;
  if (length_bytes > 0) head.payload_bytes = BigEndianIn(bytes.substr(2, length_bytes));
  const uint64_t least = length_bytes == 2 ? kShortLength : length_bytes == 8 ? uint64_t{1} << 16 : 0;
  if (head.payload_bytes < least || head.payload_bytes >> 63 != 0) return Close(kCloseProtocolError), std::nullopt;
  const size_t before = begun_ && !is_control ? begun_->size() : 0;
  if (head.payload_bytes > most_message_bytes_ - before) return Close(kCloseTooBig), std::nullopt;
  head.head_bytes = 2 + length_bytes + kMaskBytes;
  if (bytes.size() < head.head_bytes + head.payload_bytes) return std::nullopt;
  return head;
}

void WebSocket::Take(const Head& head, std::string_view payload) {
  if (head.opcode == kClose) return TakeClose(payload);
  if (head.opcode == kPing) return SendFrame(kPong, payload);
  if (head.opcode != kPong) TakeData(head, payload);
}

void WebSocket::TakeData(const Head& head, std::string_view payload) {
  if (head.opcode == kBinary) return Close(kCloseNotText);
  if ((head.opcode == kContinued) != begun_.has_value()) return Close(kCloseProtocolError);
  if (!begun_) begun_.emplace();
  *begun_ += payload;
  if (!head.is_last) return;
  if (!IsUtf8(*begun_)) return Close(kCloseNotUtf8);
  if (messages_.size() >= most_messages_) return Close(kClosePolicy);
  messages_.push_back(*std::exchange(begun_, std::nullopt));
}

void WebSocket::TakeClose(std::string_view payload) {
  if (payload.empty()) return Close(kCloseDone);
  const uint16_t code = payload.size() < 2 ? 0 : uint16_t(BigEndianIn(payload.substr(0, 2)));
  if (!IsCloseCode(code)) return Close(kCloseProtocolError);
  Close(IsUtf8(payload.substr(2)) ? code : kCloseNotUtf8);
}

std::optional<std::string> WebSocket::TakeMessage() {
  if (messages_.empty()) return std::nullopt;
  std::string message = std::move(messages_.front());
  messages_.pop_front();
  return message;
}

void WebSocket::Send(std::string_view text) { SendFrame(kText, text); }

void WebSocket::Close(uint16_t code) {
  SendFrame(kClose, InBigEndian(code, 2));
  is_closed_ = true;
}

void WebSocket::SendFrame(uint8_t opcode, std::string_view payload) {
  if (is_closed_) return;
  output_ += char(kLastBit | opcode);
  if (payload.size() < kShortLength)
    output_ += char(payload.size());
  else if (payload.size() < 1 << 16)
    output_ += char(kShortLength) + InBigEndian(payload.size(), 2);
  else
    output_ += char(kLongLength) + InBigEndian(payload.size(), 8);
  output_ += payload;
}

}  // namespace gemmsmith
