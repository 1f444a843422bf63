// OpenEnv's wires (docs/agents.md): HTTP without sessions, and a WebSocket whose connection is a session.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "agents/judge_queue.h"
#include "problem/device_model.h"
#include "serve/http_server.h"

namespace gemmsmith {

class OpenEnvHttp {
 public:
  // The queue and the device outlive this and every stream of it.
  OpenEnvHttp(JudgeQueue& queue, const Device& device, std::string version, size_t most_sessions = 256)
      : queue_(queue), device_(device), version_(std::move(version)), most_sessions_(most_sessions) {}

  // nullopt: the path is not OpenEnv's.
  std::optional<HttpReply> Answer(const HttpRequest& request);

 private:
  HttpReply Control(const HttpRequest& request);
  HttpReply Open(const HttpRequest& request);

  JudgeQueue& queue_;
  const Device& device_;
  const std::string version_;
  const size_t most_sessions_;
  // Each session holds a copy.
  const std::shared_ptr<const int> sessions_ = std::make_shared<const int>();
};

}  // namespace gemmsmith
