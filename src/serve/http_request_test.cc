#include "serve/http_request.h"

#include <gtest/gtest.h>

#include "base/random.h"

namespace gemmsmith {
namespace {

constexpr size_t kMax = 1000;
const std::string kPlain = "GET /data.json?x=1 HTTP/1.1\r\nHost: localhost:8765\r\nIf-None-Match:  \"a\" \r\n\r\n";

ParsedRequest Parse(std::string_view text) { return ParseHttpRequest(text, kMax); }

// 0 where it is understood, -1 where more is needed.
int StatusOf(std::string_view text) {
  const ParsedRequest parsed = Parse(text);
  if (std::holds_alternative<NeedsMore>(parsed)) return -1;
  const HttpRefusal* refusal = std::get_if<HttpRefusal>(&parsed);
  if (refusal == nullptr) return 0;
  EXPECT_FALSE(refusal->reason.empty());
  return refusal->status;
}

TEST(HttpRequest, IsReadWithNamesInSmallLettersAndNoQuery) {
  const ParsedRequest parsed = Parse(kPlain + "what follows is no part of it");
  const HttpRequest& request = std::get<HttpRequest>(parsed);
  EXPECT_EQ(request.method, "GET");
  EXPECT_EQ(request.path, "/data.json");
  EXPECT_EQ(request.Header("host"), "localhost:8765");
  EXPECT_EQ(request.Header("if-none-match"), "\"a\"");
  EXPECT_EQ(request.Header("accept"), "");
}

TEST(HttpRequest, NeedsMoreUntilItsLastByte) {
  for (size_t bytes = 0; bytes < kPlain.size(); ++bytes) EXPECT_EQ(StatusOf(kPlain.substr(0, bytes)), -1) << bytes;
  EXPECT_EQ(StatusOf(kPlain), 0);
}

TEST(HttpRequest, HeadersOfOneNameAreOneListButForHost) {
  const ParsedRequest parsed = Parse("GET / HTTP/1.0\r\nIf-None-Match: \"a\"\r\nIF-NONE-MATCH: \"b\"\r\n\r\n");
  EXPECT_EQ(std::get<HttpRequest>(parsed).Header("if-none-match"), "\"a\", \"b\"");
  EXPECT_EQ(StatusOf("GET / HTTP/1.1\r\nHost: localhost:1\r\nhost: elsewhere\r\n\r\n"), 400);
}

TEST(HttpRequest, WhatIsMalformedIsRefused) {
  for (const std::string line :
       {"", " ", "GET", "GET /", "GET  / HTTP/1.1", "GET / HTTP/1.1 ", "G(T / HTTP/1.1", "GET x HTTP/1.1",
        "GET / FTP/1.1", "GET http://localhost/ HTTP/1.1", "GET /\x01 HTTP/1.1", "GET /\n HTTP/1.1"})
    EXPECT_EQ(StatusOf(line + "\r\n\r\n"), 400) << line;
  EXPECT_EQ(StatusOf(std::string("GET /\0 HTTP/1.1\r\n\r\n", 20)), 400);
  for (const std::string header :
       {"Host", ": x", "Ho st: x", "Host : x", " folded", "Host: a\rb", "Host: a\nb", "Host: \x7f"})
    EXPECT_EQ(StatusOf("GET / HTTP/1.1\r\n" + header + "\r\n\r\n"), 400) << header;
  EXPECT_EQ(StatusOf("GET / HTTP/2.0\r\n\r\n"), 505);
}

TEST(HttpRequest, WhatIsTooLongIsRefusedBeforeItEnds) {
  const std::string head = "GET / HTTP/1.1\r\nHost: ";
  EXPECT_EQ(StatusOf(head + std::string(kMax - head.size(), 'x')), -1);
  EXPECT_EQ(StatusOf(head + std::string(kMax - head.size() + 1, 'x')), 431);
  EXPECT_EQ(StatusOf(head + std::string(kMax, 'x') + "\r\n\r\n"), 431);
  std::string many = "GET / HTTP/1.1\r\n";
  for (int i = 0; i < 150; ++i) many += "a:\r\n";
  EXPECT_EQ(StatusOf(many + "\r\n"), 431);
}

TEST(HttpRequest, RubbishIsRefusedOrWaitedFor) {
  Random random(1);
  for (int round = 0; round < 2000; ++round) {
    std::string text = kPlain;
    for (int i = 0; i < 3; ++i) text[random.Below(text.size())] = char(random.Below(256));
    const int status = StatusOf(text);
    EXPECT_TRUE(status == 0 || status == -1 || status == 400 || status == 505) << status << "\n" << text;
  }
}

TEST(HttpRequest, ABodyIsWaitedForToItsLastByte) {
  const std::string whole = "POST /a?b=c HTTP/1.1\r\nContent-Length: 4\r\n\r\nbody";
  const size_t head = whole.size() - 4;
  for (size_t bytes = 0; bytes < whole.size(); ++bytes) {
    const ParsedRequest parsed = ParseHttpRequest(std::string_view(whole).substr(0, bytes), kMax, 10);
    EXPECT_EQ(std::holds_alternative<NeedsMore>(parsed), bytes < head) << bytes;
    EXPECT_EQ(std::holds_alternative<NeedsBody>(parsed), bytes >= head) << bytes;
  }
  const ParsedRequest parsed = ParseHttpRequest(whole + "more", kMax, 10);
  EXPECT_EQ(std::get<HttpRequest>(parsed).body, "body");
  EXPECT_EQ(std::get<HttpRequest>(parsed).query, "b=c");
}

TEST(HttpRequest, ABodyThatIsTooLongOrOfNoLengthIsRefusedAtItsHead) {
  const auto status = [](const std::string& line, const std::string& header) {
    const ParsedRequest parsed = ParseHttpRequest(line + " / HTTP/1.1\r\n" + header + "\r\n", kMax, 10);
    const HttpRefusal* const refusal = std::get_if<HttpRefusal>(&parsed);
    return refusal == nullptr ? 0 : refusal->status;
  };
  EXPECT_EQ(status("POST", "Content-Length: 10\r\n"), 0);
  EXPECT_EQ(status("POST", "Content-Length: 11\r\n"), 413);
  EXPECT_EQ(status("POST", "Content-Length: 99999999999999999999\r\n"), 400);
  EXPECT_EQ(status("POST", "Content-Length: -1\r\n"), 400);
  EXPECT_EQ(status("POST", "Content-Length: 1, 1\r\n"), 400);
  EXPECT_EQ(status("POST", ""), 411);
  EXPECT_EQ(status("GET", ""), 0);
  EXPECT_EQ(status("POST", "Transfer-Encoding: chunked\r\n"), 501);
}

TEST(HttpRequest, OnlyThisMachinesNamesAreItsHosts) {
  for (const char* host : {"127.0.0.1:8765", "localhost:8765", "LocalHost:8765"})
    EXPECT_TRUE(IsLoopbackHost(host, 8765));
  for (const char* host :
       {"", "localhost", "127.0.0.1", "localhost:80", "evil.example:8765", "localhost.evil:8765", "127.0.0.1:8765.evil",
        "127.0.0.1.evil:8765", "0.0.0.0:8765", "[::1]:8765", "localhost:8765 "})
    EXPECT_FALSE(IsLoopbackHost(host, 8765)) << host;
  EXPECT_TRUE(IsLoopbackHost("localhost", 80));
}

TEST(HttpRequest, OnlyPagesOfThisMachineAreItsOrigins) {
  EXPECT_TRUE(IsLoopbackOrigin("http://localhost:8765", 8765));
  for (const char* origin : {"", "null", "https://localhost:8765", "http://evil.example", "http://localhost:8766"})
    EXPECT_FALSE(IsLoopbackOrigin(origin, 8765)) << origin;
}

TEST(HttpRequest, TagsAreNamedAloneInListsAndByAStar) {
  for (const char* named : {"\"a\"", "W/\"a\"", "\"b\", \"a\"", "\"b\",W/\"a\" ", "*"})
    EXPECT_TRUE(NamesTag(named, "\"a\"")) << named;
  for (const char* named : {"", "a", "\"b\"", "\"ab\"", ","}) EXPECT_FALSE(NamesTag(named, "\"a\"")) << named;
}

}  // namespace
}  // namespace gemmsmith
