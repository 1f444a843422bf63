// The judge over HTTP (docs/agents.md): batches in, verdicts by long poll, health and metrics.
#pragma once

#include <string>

#include "agents/judge_queue.h"
#include "serve/http_server.h"

namespace gemmsmith {

class JudgeHttp {
 public:
  // `device` and `why_no_gpu` (empty: there is one) are for /health. The queue outlives this.
  JudgeHttp(JudgeQueue& queue, std::string device, std::string why_no_gpu)
      : queue_(queue), device_(std::move(device)), why_no_gpu_(std::move(why_no_gpu)) {}

  HttpReply Answer(const HttpRequest& request);

 private:
  HttpAnswer Judge(const HttpRequest& request);
  HttpReply ResultOf(const std::string& id, const std::string& query);
  HttpAnswer Health() const;
  HttpAnswer Metrics() const;

  JudgeQueue& queue_;
  const std::string device_, why_no_gpu_;
};

}  // namespace gemmsmith
