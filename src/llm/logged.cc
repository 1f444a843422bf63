#include "llm/logged.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "agents/judge_journal.h"
#include "base/hash.h"
#include "llm/source_verdict.h"

namespace gemmsmith {

using Json = nlohmann::ordered_json;

namespace {

constexpr const char *kAsk = "ask", *kJudge = "judge", *kQuote = "quote", *kRefused = "refused";

Status NotOnCassette(const char* what) {
  return NotFound(
      fmt::format("the cassette has no answer to {}: it was recorded with other options, or by another version", what));
}

std::string KeyOf(const Json& request) { return HashBytes(PrintLine(request)).Hex(); }

// A question that goes on from answers is refused for its length, by this model for ever.
bool GoesOn(const ChatRequest& request) {
  return std::ranges::any_of(request.messages, [](const ChatMessage& message) { return message.role == "assistant"; });
}

}  // namespace

Result<ChatAnswer> LoggedModel::Ask(const ChatRequest& request) {
  const Json json = JsonOf(request);
  const std::string key = KeyOf(json);
  if (const std::optional<Json> known = log_.Find(kAsk, key)) return ReadChatAnswer(*known);
  if (const std::optional<Json> refusal = log_.Find(kRefused, key); refusal && refusal->is_string())
    return InvalidArgument(refusal->get<std::string>());
  if (model_ == nullptr || log_.is_read_only()) return NotOnCassette("a request to the model");
  Result<ChatAnswer> answer = model_->Ask(request);
  if (answer.ok())
    RETURN_IF_ERROR(log_.Append(kAsk, key, json, JsonOf(*answer)));
  else if (IsRefusal(answer) && GoesOn(request))
    RETURN_IF_ERROR(KeepRefusal(request, answer.status().message()));
  return answer;
}

Status LoggedModel::KeepRefusal(const ChatRequest& request, const std::string& words) {
  const Json json = JsonOf(request);
  const std::string key = KeyOf(json);
  if (log_.is_read_only() || log_.Find(kRefused, key)) return OkStatus();
  return log_.Append(kRefused, key, json, words);
}

Result<std::string> LoggedDocumentation::QuoteFor(const DocumentQuery& query) {
  const Json json = {{"words", query.words}, {"names", query.names}};
  const std::string key = KeyOf(json);
  if (const std::optional<Json> known = log_.Find(kQuote, key)) {
    if (!known->is_string()) return DataLoss("the log has documentation that is no text");
    return known->get<std::string>();
  }
  if (documentation_ == nullptr || log_.is_read_only()) return NotOnCassette("a search for documentation");
  ASSIGN_OR_RETURN(std::string quote, documentation_->QuoteFor(query));
  RETURN_IF_ERROR(log_.Append(kQuote, key, json, quote));
  return quote;
}

Result<std::vector<Json>> LoggedJudge::Judge(const std::vector<JudgeRequest>& requests) {
  std::vector<std::optional<Json>> verdicts;
  std::vector<JudgeRequest> unknown;
  for (const JudgeRequest& request : requests) {
    verdicts.push_back(log_.Find(kJudge, IdOf(request, "")));
    if (!verdicts.back()) unknown.push_back(request);
  }
  if (!unknown.empty() && (judge_ == nullptr || log_.is_read_only())) return NotOnCassette("a source");
  std::vector<Json> judged;
  if (!unknown.empty()) {
    ASSIGN_OR_RETURN(judged, judge_->Judge(unknown));
  }
  std::vector<Json> all;
  size_t next = 0;
  for (size_t i = 0; i < requests.size(); ++i) {
    if (!verdicts[i]) {
      verdicts[i] = std::move(judged[next++]);
      RETURN_IF_ERROR(ReadSourceVerdict(*verdicts[i]).status());
      RETURN_IF_ERROR(log_.Append(kJudge, IdOf(requests[i], ""), JsonOf(requests[i]), *verdicts[i]));
    }
    all.push_back(*std::move(verdicts[i]));
  }
  return all;
}

}  // namespace gemmsmith
