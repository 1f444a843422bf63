#include "llm/chat_endpoint.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <nlohmann/json.hpp>
#include <thread>

#include "agents/bounded_json.h"
#include "agents/judge_journal.h"
#include "base/seconds.h"
#include "base/text.h"

namespace gemmsmith {
namespace {

using Json = nlohmann::ordered_json;

constexpr double kLongestPause = 60;
constexpr size_t kWordsOfErrors = 300;

// Of statuses that are about the request, not about the endpoint, its key or its models.
bool RefusesTheRequest(long status) { return status == 400 || status == 413 || status == 422; }

bool MaySucceedLater(long status) { return status == 408 || status == 429 || status >= 500; }

// The message of an error as OpenAI words it, else the beginning of the body.
std::string ErrorText(const HttpResponse& response) {
  const Result<Json> json = ParseBoundedJson(response.body);
  std::string text = response.body;
  if (json.ok() && json->is_object() && json->contains("error")) {
    const Json& error = (*json)["error"];
    text = error.is_object() && error.contains("message") && error["message"].is_string()
               ? error["message"].get<std::string>()
               : error.dump();
  }
  return WithoutControls(text.substr(0, kWordsOfErrors));
}

std::string RemedyFor(long status) {
  if (status == 401 || status == 403) return ": set OPENAI_API_KEY to a key that it takes";
  if (status == 404) return ": --endpoint is the address up to /v1, and --model one that it lists";
  return "";
}

int64_t TokensIn(const Json& usage, const char* name) {
  return usage.is_object() && usage.contains(name) && usage[name].is_number_integer() ? usage[name].get<int64_t>() : 0;
}

}  // namespace

ChatEndpoint::ChatEndpoint(ChatEndpointOptions options, std::unique_ptr<HttpClient> client)
    : options_(std::move(options)), client_(std::move(client)) {}

Result<std::unique_ptr<ChatEndpoint>> ChatEndpoint::Open(ChatEndpointOptions options,
                                                         std::unique_ptr<HttpClient> client) {
  while (options.url.ends_with('/')) options.url.pop_back();
  if (!options.url.starts_with("http://") && !options.url.starts_with("https://"))
    return InvalidArgument(
        fmt::format("--endpoint {}: no address of HTTP, as http://127.0.0.1:8080/v1 is", WithoutControls(options.url)));
  return std::unique_ptr<ChatEndpoint>(new ChatEndpoint(std::move(options), std::move(client)));
}

Status ChatEndpoint::Pause(double seconds) const {
  const auto start = std::chrono::steady_clock::now();
  while (SecondsSince(start) < seconds) {
    if (options_.stop && options_.stop()) return Interrupted("stopped between two requests");
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  return OkStatus();
}

Result<std::string> ChatEndpoint::Call(const std::string& path, const std::optional<std::string>& body,
                                       int retries) const {
  double pause = options_.first_pause;
  for (int retry = 0;; ++retry, pause = std::min(2 * pause, kLongestPause)) {
    Result<HttpResponse> response =
        client_->Call({.url = options_.url + path, .bearer = options_.key, .body = body, .stop = options_.stop});
    if (response.status().code() == StatusCode::kInterrupted) return response.status();
    if (response.ok() && response->status == 200) return std::move(response->body);
    const bool may_succeed = !response.ok() || MaySucceedLater(response->status);
    if (!may_succeed || retry >= retries) {
      if (!response.ok())
        return Unavailable(fmt::format("{}; --endpoint names another server", response.status().message()));
      return Status(RefusesTheRequest(response->status) ? StatusCode::kInvalidArgument : StatusCode::kUnavailable,
                    fmt::format("{}{} answers {}: {}{}", options_.url, path, response->status, ErrorText(*response),
                                RemedyFor(response->status)));
    }
    const double asked_for = response.ok() ? response->retry_after_seconds.value_or(pause) : pause;
    RETURN_IF_ERROR(Pause(std::clamp(asked_for, 0.0, kLongestPause)));
  }
}

Result<std::string> ChatEndpoint::FirstModel() const {
  ASSIGN_OR_RETURN(const std::string body, Call("/models", std::nullopt, 0));
  const Result<Json> json = ParseBoundedJson(body);
  if (json.ok() && json->is_object() && json->contains("data") && (*json)["data"].is_array() &&
      !(*json)["data"].empty()) {
    const Json& first = (*json)["data"][0];
    if (first.is_object() && first.contains("id") && first["id"].is_string()) return first["id"].get<std::string>();
  }
  return Unavailable(fmt::format("{} lists no model: name one with --model", options_.url));
}

Result<ChatAnswer> ChatEndpoint::Ask(const ChatRequest& request) {
  ASSIGN_OR_RETURN(const std::string body, Call("/chat/completions", PrintLine(JsonOf(request)), options_.retries));
  const Result<Json> json = ParseBoundedJson(body);
  if (!json.ok()) return Unavailable(fmt::format("{} answers with what is no JSON", options_.url));
  try {
    const Json& choice = json->at("choices").at(0);
    const Json& content = choice.at("message").at("content");
    const Json usage = json->contains("usage") ? json->at("usage") : Json();
    return ChatAnswer{.text = content.is_null() ? "" : content.get<std::string>(),
                      .is_cut = choice.contains("finish_reason") && choice["finish_reason"] == "length",
                      .prompt_tokens = TokensIn(usage, "prompt_tokens"),
                      .answer_tokens = TokensIn(usage, "completion_tokens")};
  } catch (const Json::exception&) {
    return Unavailable(fmt::format("{} answers without choices[0].message.content", options_.url));
  }
}

}  // namespace gemmsmith
