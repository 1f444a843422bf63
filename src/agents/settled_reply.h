// For tests of what is served: waits for an answer.
#pragma once

#include <optional>
#include <thread>
#include <variant>

#include "serve/http_server.h"

namespace gemmsmith {

inline HttpAnswer Now(HttpReply reply) {
  HttpPending* const pending = std::get_if<HttpPending>(&reply);
  if (pending == nullptr) return std::get<HttpAnswer>(reply);
  while (true) {
    if (const std::optional<HttpAnswer> answer = (*pending)()) return *answer;
    std::this_thread::yield();
  }
}

}  // namespace gemmsmith
