#include "agents/judge_http.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "agents/bounded_json.h"
#include "agents/json_answer.h"
#include "base/text.h"

namespace gemmsmith {
namespace {

using Json = nlohmann::ordered_json;
using SteadyClock = std::chrono::steady_clock;

// A state that says nothing of the subject is an error of this service, never a verdict.
int StatusOf(JudgeState state) {
  switch (state) {
    case JudgeState::kJudged:
      return 200;
    case JudgeState::kPending:
      return 202;
    default:
      return 503;
  }
}

// "wait=20", or nothing.
Result<std::chrono::seconds> WaitIn(std::string_view query) {
  if (query.empty()) return std::chrono::seconds(0);
  const std::optional<long long> seconds = query.starts_with("wait=") ? ParseInteger(query.substr(5)) : std::nullopt;
  if (!seconds || *seconds < 0 || *seconds > kMostWaitSeconds)
    return InvalidArgument(fmt::format("the query is not wait=SECONDS, from 0 to {}", kMostWaitSeconds));
  return std::chrono::seconds(*seconds);
}

// One request, or {"requests": [...]}.
Result<std::vector<JudgeRequest>> RequestsIn(const std::string& body, size_t most) {
  ASSIGN_OR_RETURN(const Json json, ParseBoundedJson(body));
  const bool is_batch = json.is_object() && json.contains("requests");
  if (is_batch && (json.size() != 1 || !json["requests"].is_array() || json["requests"].empty()))
    return InvalidArgument("a batch is {\"requests\": [...]} with at least one request, and nothing else");
  const Json list = is_batch ? json["requests"] : Json::array({json});
  if (list.size() > most) return InvalidArgument(fmt::format("a batch has at most {} requests", most));
  std::vector<JudgeRequest> requests;
  for (const Json& one : list) {
    Result<JudgeRequest> request = ParseJudgeRequest(one);
    if (!request.ok()) return WithContext(request.status(), fmt::format("request {}", requests.size()));
    requests.push_back(*std::move(request));
  }
  return requests;
}

std::string MetricOf(std::string_view name, std::string_view kind, std::string_view help) {
  return fmt::format("# HELP gemmsmith_judge_{0} {2}\n# TYPE gemmsmith_judge_{0} {1}\n", name, kind, help);
}

std::string Metric(std::string_view name, std::string_view kind, std::string_view help, int64_t value) {
  return fmt::format("{}gemmsmith_judge_{} {}\n", MetricOf(name, kind, help), name, value);
}

}  // namespace

HttpReply JudgeHttp::Answer(const HttpRequest& request) {
  constexpr std::string_view kResult = "/v1/result/";
  const bool is_post = request.method == "POST";
  if (request.path == "/v1/judge")
    return is_post ? Judge(request) : ErrorAnswer(405, "POST a request, or {\"requests\": [...]}");
  if (is_post)
    return ErrorAnswer(404, "POST goes to /v1/judge, /mcp, /reset, /step, /get_reward, /seed_session or /verify");
  if (request.method == "DELETE") return ErrorAnswer(405, "only /mcp takes DELETE");
  if (request.path.starts_with(kResult)) return ResultOf(request.path.substr(kResult.size()), request.query);
  if (request.path == "/health") return Health();
  if (request.path == "/metrics") return Metrics();
  return ErrorAnswer(404, "there are POST /v1/judge, GET /v1/result/ID?wait=SECONDS, /health and /metrics");
}

HttpAnswer JudgeHttp::Judge(const HttpRequest& request) {
  Result<std::vector<JudgeRequest>> requests = RequestsIn(request.body, queue_.counts().capacity);
  if (!requests.ok()) return ErrorAnswer(400, requests.status().message());
  const Result<Submission> submission = queue_.Submit(*std::move(requests));
  if (!submission.ok()) return ErrorAnswer(503, submission.status().message());
  if (submission->is_full) return ErrorAnswer(429, "the queue is full; nothing of this batch was accepted");
  Json results = Json::array();
  for (const std::string& id : submission->ids) {
    const Result<std::optional<JudgeAnswer>> answer = queue_.Find(id);
    if (!answer.ok()) return ErrorAnswer(503, answer.status().message());
    results.push_back(Json::parse((*answer)->json));
  }
  return JsonAnswer(200, PrintLine({{"results", std::move(results)}}));
}

HttpReply JudgeHttp::ResultOf(const std::string& id, const std::string& query) {
  const Result<std::chrono::seconds> wait = WaitIn(query);
  if (!wait.ok()) return ErrorAnswer(400, wait.status().message());
  const SteadyClock::time_point deadline = SteadyClock::now() + *wait;
  return HttpPending([this, id, deadline]() -> std::optional<HttpAnswer> {
    if (queue_.IsUnderWay(id) && SteadyClock::now() < deadline) return std::nullopt;
    const Result<std::optional<JudgeAnswer>> answer = queue_.Find(id);
    if (!answer.ok()) return ErrorAnswer(503, answer.status().message());
    if (!*answer) return ErrorAnswer(404, "no request has this id");
    return JsonAnswer(StatusOf((*answer)->state), (*answer)->json);
  });
}

HttpAnswer JudgeHttp::Health() const {
  const JudgeCounts counts = queue_.counts();
  return JsonAnswer(200, PrintLine({{"status", "healthy"},
                                    {"device", device_},
                                    {"gpu", why_no_gpu_.empty()},
                                    {"why_no_gpu", why_no_gpu_.empty() ? Json() : Json(why_no_gpu_)},
                                    {"under_way", counts.under_way},
                                    {"capacity", counts.capacity}}));
}

HttpAnswer JudgeHttp::Metrics() const {
  const JudgeCounts counts = queue_.counts();
  std::string text = Metric("accepted_total", "counter", "Requests that were new.", counts.accepted) +
                     Metric("known_total", "counter", "Requests that were judged before or under way.", counts.known) +
                     Metric("refused_total", "counter", "Batches refused for lack of room.", counts.refused) +
                     Metric("under_way", "gauge", "Requests accepted and not answered.", int64_t(counts.under_way)) +
                     Metric("capacity", "gauge", "The most requests under way.", int64_t(counts.capacity)) +
                     MetricOf("answered_total", "counter", "Answers by state.");
  for (const auto& [state, count] : counts.answered)
    text += fmt::format("gemmsmith_judge_answered_total{{state=\"{}\"}} {}\n", Name(state), count);
  text += MetricOf("outcomes_total", "counter", "Outcomes of judged subjects.");
  for (const auto& [outcome, count] : counts.outcomes)
    text += fmt::format("gemmsmith_judge_outcomes_total{{outcome=\"{}\"}} {}\n", outcome, count);
  return {.content_type = "text/plain; version=0.0.4; charset=utf-8",
          .body = std::make_shared<const std::string>(std::move(text))};
}

}  // namespace gemmsmith
