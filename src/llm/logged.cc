#include "llm/logged.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "agents/judge_journal.h"
#include "base/hash.h"
#include "llm/source_verdict.h"

namespace gemmsmith {

using Json = nlohmann::ordered_json;

namespace {

constexpr const char *kAsk = "ask", *kJudge = "judge", *kQuote = "quote";

Status NotOnCassette(const char* what) {
  return NotFound(
      fmt::format("the cassette has no answer to {}: it was recorded with other options, or by another version", what));
}

}  // namespace

Result<ChatAnswer> LoggedModel::Ask(const ChatRequest& request) {
  const Json json = JsonOf(request);
  const std::string key = HashBytes(PrintLine(json)).Hex();
  if (const std::optional<Json> known = log_.Find(kAsk, key)) return ReadChatAnswer(*known);
  if (model_ == nullptr || log_.is_read_only()) return NotOnCassette("a request to the model");
  ASSIGN_OR_RETURN(const ChatAnswer answer, model_->Ask(request));
  RETURN_IF_ERROR(log_.Append(kAsk, key, json, JsonOf(answer)));
  return answer;
}

Result<std::string> LoggedDocumentation::QuoteFor(const DocumentQuery& query) {
  const Json json = {{"words", query.words}, {"names", query.names}};
  const std::string key = HashBytes(PrintLine(json)).Hex();
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
