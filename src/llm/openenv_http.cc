#include "llm/openenv_http.h"

#include <fmt/format.h>

#include "agents/bounded_json.h"
#include "agents/json_answer.h"
#include "base/text.h"
#include "llm/openenv_episode.h"
#include "serve/websocket.h"

namespace gemmsmith {
namespace {

using Json = nlohmann::ordered_json;

// A source of 1 MiB whose characters are escaped.
constexpr size_t kMostMessageBytes = size_t{4} << 20, kMostMessages = 4;

HttpAnswer HttpAnswerOf(const OpenEnvAnswer& answer) {
  if (const OpenEnvError* const error = std::get_if<OpenEnvError>(&answer))
    return ErrorAnswer(error->status, error->message);
  return JsonAnswer(200, PrintLine(std::get<Json>(answer)));
}

Json ErrorMessage(std::string_view code, std::string_view message) {
  return {{"type", "error"}, {"data", {{"message", message}, {"code", code}}}};
}

Json MessageOf(const OpenEnvAnswer& answer) {
  if (const OpenEnvError* const error = std::get_if<OpenEnvError>(&answer))
    return ErrorMessage(error->code, error->message);
  return {{"type", "observation"}, {"data", std::get<Json>(answer)}};
}

// Messages are answered in their order, one after the other.
class OpenEnvSession : public HttpStream {
 public:
  OpenEnvSession(JudgeQueue& queue, const Device& device, std::shared_ptr<const int> place)
      : episode_(queue, device), place_(std::move(place)) {}

  void Receive(std::string_view bytes) override { socket_.Receive(bytes); }
  std::string TakeOutput() override {
    Advance();
    return socket_.TakeOutput();
  }
  bool IsWaiting() const override { return episode_.IsJudging(); }
  bool IsOver() const override { return socket_.IsClosed(); }

 private:
  void Advance() {
    while (!socket_.IsClosed()) {
      if (episode_.IsJudging()) {
        const std::optional<OpenEnvAnswer> answer = episode_.EndStep();
        if (!answer) return;
        Say(MessageOf(*answer));
      }
      const std::optional<std::string> message = socket_.TakeMessage();
      if (!message) return;
      Take(*message);
    }
  }

  void Take(const std::string& message) {
    const Result<Json> parsed = ParseBoundedJson(message);
    if (!parsed.ok()) return Say(ErrorMessage("INVALID_JSON", parsed.status().message()));
    const Json& json = *parsed;
    const bool has_type = json.is_object() && json.contains("type") && json["type"].is_string();
    const std::string type = has_type ? json["type"].get<std::string>() : "";
    const Json data = has_type && json.contains("data") ? json["data"] : Json::object();
    if (type == "reset") return Say(MessageOf(episode_.Reset(data)));
    if (type == "state") return Say({{"type", "state"}, {"data", episode_.State()}});
    if (type == "close") return socket_.Close(kCloseDone);
    if (type != "step") return Say(ErrorMessage("UNKNOWN_TYPE", "a message has type reset, step, state or close"));
    if (const std::optional<OpenEnvError> error = episode_.BeginStep(data)) Say(MessageOf(*error));
  }

  void Say(const Json& message) { socket_.Send(PrintLine(message)); }

  WebSocket socket_{kMostMessageBytes, kMostMessages};
  OpenEnvEpisode episode_;
  const std::shared_ptr<const int> place_;
};

Json MetadataOf(const std::string& version) {
  return {{"name", "gemmsmith"},
          {"description", "Write GEMM kernels for NVIDIA GPUs; each is judged and raced against cuBLASLt AutoTuning."},
          {"readme_content", nullptr},
          {"version", version},
          {"author", nullptr},
          {"documentation_url", nullptr}};
}

}  // namespace

std::optional<HttpReply> OpenEnvHttp::Answer(const HttpRequest& request) {
  const std::string& path = request.path;
  const bool is_control = path == "/reset" || path == "/step";
  if (!is_control && path != "/state" && path != "/schema" && path != "/metadata" && path != "/ws") return std::nullopt;
  if (request.method == "DELETE" || (request.method == "POST") != is_control)
    return ErrorAnswer(405, "POST goes to /reset and /step, GET to /state, /schema, /metadata and /ws");
  if (is_control) return Control(request);
  if (path == "/ws") return Open(request);
  if (path == "/schema") return JsonAnswer(200, PrintLine(OpenEnvSchemas()));
  if (path == "/metadata") return JsonAnswer(200, PrintLine(MetadataOf(version_)));
  return JsonAnswer(200, PrintLine(OpenEnvEpisode(queue_, device_).State()));
}

// Each request has an episode of its own, as the package's own servers do.
HttpReply OpenEnvHttp::Control(const HttpRequest& request) {
  const Result<Json> body = ParseBoundedJson(request.body.empty() ? "{}" : request.body);
  if (!body.ok() || !body->is_object()) return ErrorAnswer(400, "the body is no object of JSON");
  const auto episode = std::make_shared<OpenEnvEpisode>(queue_, device_);
  if (request.path == "/reset") return HttpAnswerOf(episode->Reset(*body));
  if (!body->contains("action")) return ErrorAnswer(400, "'action' is missing");
  if (const std::optional<OpenEnvError> error = episode->BeginStep((*body)["action"])) return HttpAnswerOf(*error);
  return HttpPending([episode]() -> std::optional<HttpAnswer> {
    const std::optional<OpenEnvAnswer> answer = episode->EndStep();
    if (!answer) return std::nullopt;
    return HttpAnswerOf(*answer);
  });
}

HttpReply OpenEnvHttp::Open(const HttpRequest& request) {
  auto accepted = AcceptWebSocket(request);
  if (HttpAnswer* const refusal = std::get_if<HttpAnswer>(&accepted)) return std::move(*refusal);
  if (size_t(sessions_.use_count() - 1) >= most_sessions_)
    return ErrorAnswer(503, fmt::format("{} sessions are open, which is the most", most_sessions_));
  return HttpUpgrade{std::get<0>(std::move(accepted)), std::make_shared<OpenEnvSession>(queue_, device_, sessions_)};
}

}  // namespace gemmsmith
