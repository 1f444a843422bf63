// A model behind an OpenAI-compatible endpoint.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "llm/chat.h"
#include "llm/http_client.h"

namespace gemmsmith {

struct ChatEndpointOptions {
  std::string url;             // up to and with the version: "http://127.0.0.1:8080/v1"
  std::string key;             // empty: none is sent
  int retries = 5;             // of requests that may succeed later
  double first_pause = 1;      // seconds; doubles with each retry, up to a minute
  std::function<bool()> stop;  // asked while a request is under way, and in pauses
};

class ChatEndpoint : public ChatModel {
 public:
  // InvalidArgument where the url is none of HTTP.
  static Result<std::unique_ptr<ChatEndpoint>> Open(ChatEndpointOptions options, std::unique_ptr<HttpClient> client);

  // The first model that the endpoint lists; asked once, so that a wrong address is told at once.
  Result<std::string> FirstModel() const;
  // A request is sent again after 408, 429, 5xx and where no response came, as the endpoint's Retry-After says.
  Result<ChatAnswer> Ask(const ChatRequest& request) override;

 private:
  ChatEndpoint(ChatEndpointOptions options, std::unique_ptr<HttpClient> client);
  Result<std::string> Call(const std::string& path, const std::optional<std::string>& body, int retries) const;
  Status Pause(double seconds) const;

  const ChatEndpointOptions options_;
  const std::unique_ptr<HttpClient> client_;
};

}  // namespace gemmsmith
