#include "llm/reward_http.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "agents/bounded_json.h"
#include "agents/json_answer.h"
#include "llm/answer.h"
#include "llm/source_verdict.h"
#include "policy/rewards.h"

namespace gemmsmith {
namespace {

using Json = nlohmann::ordered_json;

bool IsListOfTexts(const Json& body, const char* name) {
  return body.contains(name) && body[name].is_array() &&
         std::all_of(body[name].begin(), body[name].end(), [](const Json& one) { return one.is_string(); });
}

// The texts of an OpenAI Responses object.
Result<std::string> TextOfResponse(const Json& response) try {
  std::string text;
  for (const Json& item : response.at("output")) {
    if (item.at("type") != "message") continue;
    for (const Json& part : item.at("content"))
      if (part.at("type") == "output_text") text += part.at("text").get<std::string>();
  }
  return text;
} catch (const Json::exception&) {
  return InvalidArgument("\"response\" is no object of OpenAI's Responses");
}

}  // namespace

double RewardOfUnreadable() { return RewardOptions().grades[size_t(OutcomeKind::kIllegal)]; }

std::optional<double> RewardOf(const Json& json) {
  const Result<SourceVerdict> verdict = ReadSourceVerdict(json);
  if (!verdict.ok()) return std::nullopt;
  if (verdict->is_timed) return verdict->speed_up;
  const std::optional<OutcomeKind> kind = ParseOutcomeKind(verdict->outcome);
  if (!kind || verdict->has_passed) return std::nullopt;
  return RewardOptions().grades[size_t(*kind)];
}

std::optional<HttpReply> RewardHttp::Answer(const HttpRequest& request) {
  const bool is_wire = request.path == "/get_reward" || request.path == "/seed_session" || request.path == "/verify";
  if (!is_wire) return std::nullopt;
  if (request.method != "POST") return ErrorAnswer(405, "POST an object of JSON");
  const Result<Json> body = ParseBoundedJson(request.body);
  if (!body.ok() || !body->is_object()) return ErrorAnswer(400, "the body is no object of JSON");
  if (request.path == "/seed_session") return JsonAnswer(200, "{}");  // a row says all there is
  return request.path == "/get_reward" ? OpenRlhf(*body) : NemoGym(*body);
}

// Pairs of a problem and a model's text.
Result<std::vector<JudgeRequest>> RewardHttp::Read(const std::vector<std::pair<std::string, std::string>>& answers,
                                                   std::vector<Written>& written) const {
  std::vector<JudgeRequest> requests;
  for (const auto& [problem, text] : answers) {
    Result<Gemm> gemm = ParseProblem(problem);
    if (!gemm.ok()) return gemm.status();
    Result<WrittenAnswer> answer = ReadAnswer(text, {});
    if (answer.ok())
      requests.push_back({.gemm = *gemm,
                          .subject = FreeForm{.name = "answer", .text = std::move(answer->source)},
                          .protocol = Protocol::kScreen});
    written.push_back({.reason = answer.status().message()});
  }
  return requests;
}

HttpReply RewardHttp::Rewards(const std::vector<std::pair<std::string, std::string>>& answers,
                              std::function<HttpAnswer(std::vector<Json>)> finish) {
  std::vector<Written> written;
  Result<std::vector<JudgeRequest>> requests = Read(answers, written);
  if (!requests.ok()) return ErrorAnswer(400, requests.status().message());
  if (requests->size() > queue_.counts().capacity)
    return ErrorAnswer(400, fmt::format("a batch has at most {} answers", queue_.counts().capacity));
  const Result<Submission> submission = queue_.Submit(*std::move(requests));
  if (!submission.ok()) return ErrorAnswer(503, submission.status().message());
  if (submission->is_full) return ErrorAnswer(429, "the queue is full; nothing of this batch was accepted");
  size_t next = 0;
  for (Written& one : written)
    if (one.reason.empty()) one.id = submission->ids[next++];
  return HttpPending([this, written, finish]() -> std::optional<HttpAnswer> {
    std::vector<Json> rewards;
    for (const Written& one : written)
      if (queue_.IsUnderWay(one.id)) return std::nullopt;
    for (const Written& one : written) {
      if (one.id.empty()) {
        rewards.push_back({{"reward", RewardOfUnreadable()}, {"passed", false}, {"words", one.reason}});
        continue;
      }
      const Result<std::optional<JudgeAnswer>> answer = queue_.Find(one.id);
      if (!answer.ok() || !*answer) return ErrorAnswer(503, "the journal lost a request");
      const Json verdict = Json::parse((*answer)->json);
      const std::optional<double> reward = RewardOf(verdict);
      if (!reward) return ErrorAnswer(503, fmt::format("no reward: {}", verdict["words"].get<std::string>()));
      rewards.push_back({{"reward", *reward}, {"passed", verdict["passed"]}, {"words", verdict["words"]}});
    }
    return finish(std::move(rewards));
  });
}

// {"query": [prompt and answer], "prompts": [...], "labels": [problems]} -> {"rewards", "scores", "extra_logs"}
HttpReply RewardHttp::OpenRlhf(const Json& body) {
  for (const char* name : {"query", "prompts", "labels"})
    if (!IsListOfTexts(body, name)) return ErrorAnswer(400, fmt::format("\"{}\" is no list of texts", name));
  const size_t count = body["query"].size();
  if (count == 0 || body["prompts"].size() != count || body["labels"].size() != count)
    return ErrorAnswer(400, "\"query\", \"prompts\" and \"labels\" are not of one length, at least 1");
  std::vector<std::pair<std::string, std::string>> answers;
  for (size_t i = 0; i < count; ++i) {
    std::string text = body["query"][i].get<std::string>();
    const std::string prompt = body["prompts"][i].get<std::string>();
    // A prompt may show sources. None of them is the model's.
    if (!text.starts_with(prompt))
      return ErrorAnswer(400, fmt::format("query {} does not begin with its prompt; trainers cut long prompts", i));
    text.erase(0, prompt.size());
    answers.emplace_back(body["labels"][i].get<std::string>(), std::move(text));
  }
  return Rewards(answers, [](const std::vector<Json>& rewards) {
    Json list = Json::array(), passed = Json::array();
    for (const Json& one : rewards) {
      list.push_back(one["reward"]);
      passed.push_back(one["passed"].get<bool>() ? 1.0 : 0.0);
    }
    return JsonAnswer(200, PrintLine({{"rewards", list}, {"scores", list}, {"extra_logs", {{"passed", passed}}}}));
  });
}

// A row with "problem" and the model's "response" -> the same with "reward".
HttpReply RewardHttp::NemoGym(const Json& body) {
  if (!body.contains("problem") || !body["problem"].is_string())
    return ErrorAnswer(400, "the row has no \"problem\", as in 256x512x4096");
  if (!body.contains("response")) return ErrorAnswer(400, "the row has no \"response\"");
  const Result<std::string> text = TextOfResponse(body["response"]);
  if (!text.ok()) return ErrorAnswer(400, text.status().message());
  return Rewards({{body["problem"].get<std::string>(), *text}}, [body](const std::vector<Json>& rewards) {
    Json answer = body;
    answer.update(rewards.front());
    return JsonAnswer(200, PrintLine(answer));
  });
}

}  // namespace gemmsmith
