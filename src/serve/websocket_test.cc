#include "serve/websocket.h"

#include <gtest/gtest.h>

#include "base/random.h"
#include "serve/websocket_frame.h"

namespace gemmsmith {
namespace {

constexpr size_t kMostBytes = 100'000;

std::string CloseFrame(uint16_t code) { return {char(0x88), 2, char(code >> 8), char(code & 0xff)}; }

// What a fresh socket sends for these bytes.
std::string OutputFor(const std::string& bytes) {
  WebSocket socket(kMostBytes);
  socket.Receive(bytes);
  return socket.TakeOutput();
}

HttpRequest Handshake() {
  return {.method = "GET",
          .path = "/ws",
          .headers = {{"upgrade", "WebSocket"},
                      {"connection", "keep-alive, Upgrade"},
                      {"sec-websocket-version", "13"},
                      {"sec-websocket-key", "dGhlIHNhbXBsZSBub25jZQ=="}},
          .query = "",
          .body = ""};
}

TEST(WebSocketHandshake, TheExampleOfTheStandardIsAccepted) {
  const auto accepted = AcceptWebSocket(Handshake());
  const auto* const headers = std::get_if<std::map<std::string, std::string>>(&accepted);
  ASSERT_NE(headers, nullptr);
  EXPECT_EQ(headers->at("Sec-WebSocket-Accept"), "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=");
}

TEST(WebSocketHandshake, WrongRequestsAreRefused) {
  const auto refused = [](const std::string& name, const std::string& value) {
    HttpRequest request = Handshake();
    request.headers[name] = value;
    const auto accepted = AcceptWebSocket(request);
    const HttpAnswer* const answer = std::get_if<HttpAnswer>(&accepted);
    return answer == nullptr ? 101 : answer->status;
  };
  EXPECT_EQ(refused("upgrade", "h2c"), 400);
  EXPECT_EQ(refused("connection", "close"), 400);
  EXPECT_EQ(refused("sec-websocket-version", "8"), 426);
  for (const char* key : {"", "dGhlIHNhbXBsZSBub25jZQ", "dGhlIHNhbXBsZSBub25jZ!==", "dGhlIHNhbXBsZSBub25jZQ==="})
    EXPECT_EQ(refused("sec-websocket-key", key), 400) << key;
  EXPECT_EQ(refused("connection", "UPGRADE"), 101);
}

TEST(WebSocket, TextsOfEveryLengthComeInAnyPieces) {
  for (const size_t size : {0, 1, 125, 126, 65535, 65536}) {
    const std::string text(size, 'x'), frame = MaskedFrame(0x81, text);
    WebSocket socket(kMostBytes);
    for (size_t at = 0; at < frame.size(); at += 1 + size / 7) socket.Receive(frame.substr(at, 1 + size / 7));
    EXPECT_EQ(socket.TakeMessage(), text) << size;
    EXPECT_EQ(socket.TakeMessage(), std::nullopt);
    EXPECT_EQ(socket.TakeOutput(), "");
    socket.Send(text);
    const std::string sent = socket.TakeOutput();
    EXPECT_EQ(sent.size(), frame.size() - 4) << "without a mask";
    EXPECT_TRUE(sent.ends_with(text));
  }
}

TEST(WebSocket, AMessageMayComeInFramesWithPingsBetween) {
  WebSocket socket(kMostBytes);
  socket.Receive(MaskedFrame(0x01, "one ") + MaskedFrame(0x89, "ping") + MaskedFrame(0x00, "two ") +
                 MaskedFrame(0x8a, "") + MaskedFrame(0x80, "\xc3\xa9"));
  EXPECT_EQ(socket.TakeMessage(), "one two \xc3\xa9");
  EXPECT_EQ(socket.TakeOutput(), std::string("\x8a\x04ping"));
}

TEST(WebSocket, ACloseIsAnsweredWithItsCodeAndEndsEverything) {
  EXPECT_EQ(OutputFor(MaskedFrame(0x88, "")), CloseFrame(1000));
  EXPECT_EQ(OutputFor(MaskedFrame(0x88,
                                  "\x03\xe9"
                                  "away")),
            CloseFrame(1001));
  WebSocket socket(kMostBytes);
  socket.Receive(MaskedFrame(0x88, "") + MaskedFrame(0x81, "late"));
  socket.Receive(MaskedFrame(0x81, "later"));
  EXPECT_TRUE(socket.IsClosed());
  EXPECT_EQ(socket.TakeMessage(), std::nullopt);
  socket.Send("late");
  EXPECT_EQ(socket.TakeOutput(), CloseFrame(1000));
}

TEST(WebSocket, MalformedFramesCloseWithTheRightCode) {
  const std::string unmasked = {char(0x81), 1, 'x'};
  const std::pair<std::string, uint16_t> cases[] = {
      {unmasked, kCloseProtocolError},
      {MaskedFrame(0xc1, "x"), kCloseProtocolError},                           // a reserved bit
      {MaskedFrame(0x83, "x"), kCloseProtocolError},                           // an unknown kind of data
      {MaskedFrame(0x8b, "x"), kCloseProtocolError},                           // an unknown control frame
      {MaskedFrame(0x09, "x"), kCloseProtocolError},                           // a ping in parts
      {MaskedFrame(0x89, std::string(126, 'x')), kCloseProtocolError},         // a long ping
      {MaskedFrame(0x80, "x"), kCloseProtocolError},                           // the rest of nothing
      {MaskedFrame(0x01, "x") + MaskedFrame(0x81, "y"), kCloseProtocolError},  // a message in another
      {MaskedFrame(0x81, "x", 2), kCloseProtocolError},                        // a length that is too long
      {MaskedFrame(0x81, "x", 8), kCloseProtocolError},
      {std::string("\x81\xff\x80\0\0\0\0\0\0\1", 10), kCloseProtocolError},  // more than 63 bits
      {MaskedFrame(0x88, "x"), kCloseProtocolError},                         // half a code
      {MaskedFrame(0x88, "\x03\xed"), kCloseProtocolError},                  // 1005, which is never sent
      {MaskedFrame(0x88, "\x03\xe8\xff"), kCloseNotUtf8},
      {MaskedFrame(0x82, "x"), kCloseNotText},
      {MaskedFrame(0x81, "\xff"), kCloseNotUtf8},
      {std::string("\x81\xff\0\0\0\0\x7f\0\0\0", 10), kCloseTooBig},  // before its payload comes
      {MaskedFrame(0x01, std::string(kMostBytes, 'x')) + MaskedFrame(0x80, "x"), kCloseTooBig},
  };
  for (const auto& [bytes, code] : cases)
    EXPECT_EQ(OutputFor(bytes), CloseFrame(code)) << testing::PrintToString(bytes.substr(0, 20));
}

TEST(WebSocket, OnlyUtf8IsText) {
  for (const char* wrong : {"\x80", "\xc3", "\xc0\xaf", "\xe0\x80\xaf", "\xed\xa0\x80", "\xf0\x80\x80\xaf",
                            "\xf4\x90\x80\x80", "\xf5\x80\x80\x80", "\xe2\x82"})
    EXPECT_EQ(OutputFor(MaskedFrame(0x81, wrong)), CloseFrame(kCloseNotUtf8)) << testing::PrintToString(wrong);
  EXPECT_EQ(OutputFor(MaskedFrame(0x81, "\xe2\x82\xac \xf4\x8f\xbf\xbf \xed\x9f\xbf")), "");
}

TEST(WebSocket, MessagesThatAreNotTakenCloseIt) {
  WebSocket socket(kMostBytes, 2);
  for (int i = 0; i < 2; ++i) socket.Receive(MaskedFrame(0x81, "x"));
  EXPECT_FALSE(socket.IsClosed());
  socket.Receive(MaskedFrame(0x81, "x"));
  EXPECT_EQ(socket.TakeOutput(), CloseFrame(kClosePolicy));
}

TEST(WebSocket, AnyBytesAreTaken) {
  Random random(1);
  int closed = 0;
  for (int i = 0; i < 20'000; ++i) {
    std::string bytes = MaskedFrame(0x81, "text") + MaskedFrame(0x01, "a") + MaskedFrame(0x80, "b");
    for (int changes = 0; changes < 3; ++changes) bytes[random.Below(bytes.size())] = char(random.Below(256));
    WebSocket socket(kMostBytes);
    socket.Receive(bytes.substr(0, random.Below(bytes.size() + 1)));
    closed += socket.IsClosed();
  }
  EXPECT_GT(closed, 5'000);
  EXPECT_LT(closed, 20'000);
}

}  // namespace
}  // namespace gemmsmith
