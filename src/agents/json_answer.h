// Answers over HTTP as JSON.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "agents/judge_journal.h"
#include "serve/http_server.h"

namespace gemmsmith {

inline HttpAnswer JsonAnswer(int status, std::string text) {
  return {.status = status,
          .content_type = "application/json",
          .body = std::make_shared<const std::string>(std::move(text) + "\n")};
}

// Where there is no room, or this machine failed, the client is told when to come back.
inline HttpAnswer ErrorAnswer(int status, std::string_view message) {
  constexpr int kRetryAfterSeconds = 5;
  HttpAnswer answer = JsonAnswer(status, PrintLine({{"error", message}}));
  if (status == 429 || status == 503) answer.retry_after_seconds = kRetryAfterSeconds;
  return answer;
}

}  // namespace gemmsmith
