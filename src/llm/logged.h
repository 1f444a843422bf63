// A model, a judge and documentation whose exchanges are logged, and answered from the log where they are there.
#pragma once

#include "llm/chat.h"
#include "llm/documentation.h"
#include "llm/exchange_log.h"
#include "llm/source_judge.h"

namespace gemmsmith {

// Where the log is only read, `model` may be null; what is not there is NotFound.
class LoggedModel : public ChatModel {
 public:
  LoggedModel(ChatModel* model, ExchangeLog& log) : model_(model), log_(log) {}
  Result<ChatAnswer> Ask(const ChatRequest& request) override;
  // Ask is refused in the same words from now on. Nothing where the log is only read.
  Status KeepRefusal(const ChatRequest& request, const std::string& words);

 private:
  ChatModel* const model_;
  ExchangeLog& log_;
};

// The same of a judge. Failures of its machine are not kept.
class LoggedJudge : public SourceJudge {
 public:
  LoggedJudge(SourceJudge* judge, ExchangeLog& log) : judge_(judge), log_(log) {}
  Result<std::vector<nlohmann::ordered_json>> Judge(const std::vector<JudgeRequest>& requests) override;

 private:
  SourceJudge* const judge_;
  ExchangeLog& log_;
};

// The same of documentation.
class LoggedDocumentation : public Documentation {
 public:
  LoggedDocumentation(Documentation* documentation, ExchangeLog& log) : documentation_(documentation), log_(log) {}
  Result<std::string> QuoteFor(const DocumentQuery& query) override;

 private:
  Documentation* const documentation_;
  ExchangeLog& log_;
};

}  // namespace gemmsmith
