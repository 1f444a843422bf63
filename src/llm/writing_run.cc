#include "llm/writing_run.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "agents/judge_journal.h"
#include "agents/task_text.h"
#include "base/files.h"
#include "base/hash.h"
#include "llm/chat_endpoint.h"
#include "llm/logged.h"

namespace gemmsmith {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char *kRun = "run", *kTerms = "terms", *kBudgets = "budgets", *kTexts = "texts";

// What the answers of a run depend on.
Json TermsOf(const WritingRun& run) {
  const WritingOptions& options = run.options;
  Json terms = {{"problem", Print(options.gemm)},
                {"device", run.device.key},
                {"why_not_timed", run.why_not_timed},
                {"model", options.model},
                {"islands", options.islands},
                {"repairs", options.repairs},
                {"temperature", options.temperature},
                {"answer_tokens", options.answer_tokens},
                {"seed", options.seed}};
  if (!run.documents.empty()) terms["documents"] = run.documents;
  return terms;
}

// Where it ends.
Json BudgetsOf(const WritingOptions& options) {
  const auto json = [](const auto& budget) { return budget ? Json(*budget) : Json(); };
  return {{"answers", options.answers},
          {"tokens", json(options.tokens)},
          {"dollars", json(options.dollars)},
          {"price", {options.price.prompt, options.price.answer}}};
}

Status ReadDocuments(const Json& terms, WritingRun& run) {
  const std::string documents = terms.contains("documents") ? terms["documents"].get<std::string>() : "";
  if (!run.documents.empty() && run.documents != documents)
    return InvalidArgument(
        fmt::format("the cassette quotes {} documents: leave out --documents", documents.empty() ? "no" : "other"));
  run.documents = documents;
  return OkStatus();
}

Status ReadTerms(const Json& terms, const Json& budgets, WritingRun& run) try {
  WritingOptions& options = run.options;
  RETURN_IF_ERROR(ReadDocuments(terms, run));
  if (const std::string problem = terms.at("problem").get<std::string>(); problem != Print(options.gemm))
    return InvalidArgument(fmt::format("the cassette is of another problem: {}", problem));
  const std::string key = terms.at("device").get<std::string>();
  ASSIGN_OR_RETURN(run.device, FindDevice(key));
  run.why_not_timed = terms.at("why_not_timed").get<std::string>();
  options.model = terms.at("model").get<std::string>();
  options.islands = terms.at("islands").get<int>();
  options.repairs = terms.at("repairs").get<int>();
  options.temperature = terms.at("temperature").get<double>();
  options.answer_tokens = terms.at("answer_tokens").get<int64_t>();
  options.seed = terms.at("seed").get<uint64_t>();
  options.answers = budgets.at("answers").get<int>();
  if (!budgets.at("tokens").is_null()) options.tokens = budgets.at("tokens").get<int64_t>();
  if (!budgets.at("dollars").is_null()) options.dollars = budgets.at("dollars").get<double>();
  options.price = {budgets.at("price").at(0).get<double>(), budgets.at("price").at(1).get<double>()};
  options.seconds.reset();
  const bool is_sound = options.islands >= 1 && options.islands <= 1024 && options.repairs >= 0 && options.answers >= 1;
  return is_sound ? OkStatus() : DataLoss("the cassette's options are damaged");
} catch (const Json::exception& error) {
  return DataLoss(fmt::format("the cassette's options are damaged: {}", error.what()));
}

void FillTexts(WritingRun& run) {
  run.options.task = TaskText(run.options.gemm, run.device);
  run.options.example = ExampleSource(run.options.gemm.kind);
  run.options.query = QueryOnProblem(run.options.gemm, run.device);
}

// What questions begin with. A cassette has its own: it outlives changes of the documents that they are made from.
Json TextsOf(const WritingOptions& options) {
  return {{"task", options.task}, {"example", options.example}, {"query", options.query.words}};
}

Status ReadTexts(const Json& texts, WritingOptions& options) try {
  options.task = texts.at("task").get<std::string>();
  options.example = texts.at("example").get<std::string>();
  options.query = {.words = texts.at("query").get<std::string>()};
  return OkStatus();
} catch (const Json::exception& error) {
  return DataLoss(fmt::format("the cassette's texts are damaged: {}", error.what()));
}

Result<std::unique_ptr<ExchangeLog>> OpenLog(const std::string& name, WritingRun& run) {
  const Json terms = TermsOf(run);
  const std::string file = name.empty() ? "llm-" + HashBytes(PrintLine(terms)).Hex().substr(0, 16) : name;
  run.exchanges = HomeFolder() / "exchanges" / (file + ".jsonl");
  ASSIGN_OR_RETURN(std::unique_ptr<ExchangeLog> log, ExchangeLog::Open(run.exchanges, false));
  if (const std::optional<Json> stored = log->Find(kRun, kTerms); !stored)
    RETURN_IF_ERROR(log->Append(kRun, kTerms, {}, terms));
  else if (*stored != terms)
    return InvalidArgument(fmt::format("{} is of other options: choose another --name", run.exchanges.string()));
  for (const auto& [key, value] : {std::pair(kBudgets, BudgetsOf(run.options)), {kTexts, TextsOf(run.options)}})
    if (log->Find(kRun, key) != value) RETURN_IF_ERROR(log->Append(kRun, key, {}, value));
  return log;
}

}  // namespace

Result<WritingRun> WriteKernels(WritingRequest request, StopRule& stop, const std::function<bool()>& interrupted,
                                const std::function<void(const WritingRun&)>& on_begin,
                                const std::function<void(const WritingEvent&)>& on_event) {
  WritingRun run{.options = request.options,
                 .documents = request.documents == nullptr ? "" : request.documents->fingerprint(),
                 .exchanges = request.cassette};
  std::optional<QuotedPassages> passages;
  if (request.documents != nullptr) passages.emplace(*request.documents);
  JudgeRoom room;
  std::unique_ptr<ExchangeLog> log;
  std::unique_ptr<ChatEndpoint> endpoint;
  std::unique_ptr<QueueJudge> queue;
  if (!request.cassette.empty()) {
    ASSIGN_OR_RETURN(log, ExchangeLog::Open(request.cassette, true));
    const std::optional<Json> terms = log->Find(kRun, kTerms), budgets = log->Find(kRun, kBudgets);
    if (!terms || !budgets) return DataLoss(fmt::format("{} is no log of exchanges", request.cassette.string()));
    RETURN_IF_ERROR(ReadTerms(*terms, *budgets, run));
    FillTexts(run);
    if (const std::optional<Json> texts = log->Find(kRun, kTexts)) RETURN_IF_ERROR(ReadTexts(*texts, run.options));
  } else {
    ASSIGN_OR_RETURN(std::unique_ptr<HttpClient> client, HttpClient::Open());
    ASSIGN_OR_RETURN(endpoint, ChatEndpoint::Open({.url = request.endpoint, .key = request.key, .stop = interrupted},
                                                  std::move(client)));
    if (run.options.model.empty()) {
      ASSIGN_OR_RETURN(run.options.model, endpoint->FirstModel());
    }
    ASSIGN_OR_RETURN(room, OpenJudgeRoom(request.judge));
    run.device = room.judge->device();
    run.why_not_timed = room.judge->why_no_gpu();
    queue = std::make_unique<QueueJudge>(*room.queue, interrupted);
    FillTexts(run);
    ASSIGN_OR_RETURN(log, OpenLog(request.name, run));
  }
  on_begin(run);
  LoggedModel model(endpoint.get(), *log);
  LoggedJudge judge(queue.get(), *log);
  LoggedDocumentation quotes(passages ? &*passages : nullptr, *log);
  Documentation* const documentation = run.documents.empty() ? nullptr : &quotes;
  ASSIGN_OR_RETURN(run.result, WriteKernels(run.options, model, judge, documentation, stop, on_event));
  return run;
}

}  // namespace gemmsmith
