// optimize --proposer llm.
#include <fmt/format.h>
#include <unistd.h>

#include <nlohmann/json.hpp>

#include "archive/json_text.h"
#include "base/files.h"
#include "base/hash.h"
#include "base/interrupt.h"
#include "cli/endpoint.h"
#include "cli/exit.h"
#include "cli/progress.h"
#include "cli/run.h"
#include "cli/table.h"
#include "cli/words.h"
#include "llm/writing_run.h"
#include "workflow/kernel_sources.h"

namespace gemmsmith {
namespace {

// Null without --documents.
Result<std::unique_ptr<Passages>> ReadDocuments(const std::filesystem::path& folder) {
  if (folder.empty()) return std::unique_ptr<Passages>();
  Result<std::unique_ptr<Passages>> passages = Passages::Read(folder);
  if (passages.ok() && (*passages)->size() > 0) return passages;
  const Status why = passages.ok() ? NotFound(folder.string() + " has no snippets") : passages.status();
  return Status(why.code(),
                fmt::format("--documents: {}; name a folder that gemmsmith corpus clean wrote", why.message()));
}

WritingRequest RequestFor(const OptimizeCommand& command, Layout layout, const Passages* documents) {
  const WritingCommand& writing = command.writing;
  const GemmKind kind{.layout = layout, .type = command.type, .accumulation = command.accumulation};
  WritingRequest request{.options = {.gemm = {.shape = *command.target.shape, .kind = kind},
                                     .model = writing.model,
                                     .islands = writing.islands,
                                     .repairs = writing.repairs,
                                     .answers = command.budget_evaluations,
                                     .seconds = command.budget_seconds,
                                     .tokens = writing.budget_tokens,
                                     .dollars = writing.budget_dollars,
                                     .price = writing.price.value_or(TokenPrice()),
                                     .temperature = writing.temperature,
                                     .answer_tokens = writing.answer_tokens,
                                     .seed = command.seed},
                         .endpoint = EndpointOr(writing.endpoint),
                         .key = EndpointKey(),
                         .name = command.name,
                         .cassette = writing.cassette,
                         .documents = documents};
  request.judge.machine = {.device = command.device, .archive = command.archive, .campaign = "llm"};
  return request;
}

void SayWhatBegins(const WritingRun& run) {
  WriteNote(fmt::format("{} writes for {} on an {}; exchanges are in {}", run.options.model, Print(run.options.gemm),
                        run.device.name, run.exchanges.string()));
  if (!run.why_not_timed.empty())
    WriteNote(fmt::format("{}: sources are built, screened and recorded, and not timed", run.why_not_timed));
}

std::string NewsOf(const WritingEvent& event) {
  if (event.best == nullptr) return "none timed yet";
  return fmt::format("best {}", TimeText(event.best->verdict.time_ns));
}

Result<std::vector<std::string>> WriteFiles(const OptimizeCommand& command, const WritingRun& run) {
  const std::filesystem::path folder = command.output.empty() ? HomeFolder() / "kernels" : command.output;
  std::vector<std::string> files;
  for (const Member& member : run.result.best) {
    const std::string name = fmt::format("{}_llm_{}.cu", KernelFileStem(run.options.gemm, run.device),
                                         HashBytes(member.source).Hex().substr(0, 8));
    RETURN_IF_ERROR(WriteFileAtomic(folder / name, member.source));
    files.push_back((folder / name).string());
  }
  return files;
}

Json JsonOf(const WritingRun& run, const std::vector<std::string>& files) {
  const WritingCounts& counts = run.result.counts;
  Json best = Json::array(), outcomes = Json::object();
  for (const auto& [outcome, count] : counts.outcomes) outcomes[outcome] = count;
  for (size_t i = 0; i < files.size(); ++i) {
    const SourceVerdict& verdict = run.result.best[i].verdict;
    best.push_back({{"file", files[i]},
                    {"words", verdict.words},
                    {"time_ns", verdict.is_timed ? Json(verdict.time_ns) : Json()},
                    {"over_autotuning", verdict.speed_up ? Json(*verdict.speed_up) : Json()}});
  }
  return {{"problem", Print(run.options.gemm)},
          {"device", run.device.key},
          {"model", run.options.model},
          {"why_not_timed", run.why_not_timed},
          {"answers", counts.answers},
          {"unreadable", counts.unreadable},
          {"outcomes", outcomes},
          {"prompt_tokens", counts.prompt_tokens},
          {"answer_tokens", counts.answer_tokens},
          {"dollars", counts.dollars},
          {"stop_reason", run.result.stop_reason},
          {"best", best},
          {"exchanges", run.exchanges.string()}};
}

std::string TextOf(const WritingRun& run, const std::vector<std::string>& files, const Terminal& terminal) {
  const WritingCounts& counts = run.result.counts;
  std::string text = fmt::format("{}: {} of {}, {} tokens", Print(run.options.gemm), Plural(counts.answers, "answer"),
                                 run.options.model, CountText(counts.prompt_tokens + counts.answer_tokens));
  if (counts.dollars > 0) text += fmt::format(", {:.4f} dollars", counts.dollars);
  text += fmt::format("; {}\n", run.result.stop_reason);
  Table table({{"answers"}, {"number", Table::Align::kRight}});
  if (counts.unreadable > 0) table.Add({"without code", CountText(counts.unreadable)});
  for (const auto& [outcome, count] : counts.outcomes) table.Add({outcome, CountText(count)});
  text += "\n" + table.Print(terminal);
  for (size_t i = 0; i < files.size(); ++i)
    text += fmt::format("\n{}\n  {}\n", files[i], run.result.best[i].verdict.words);
  if (files.empty()) text += "\nno source passed\n";
  return text;
}

}  // namespace

Result<int> RunWriting(const OptimizeCommand& command) {
  WatchForInterrupts();
  ASSIGN_OR_RETURN(const std::unique_ptr<Passages> documents, ReadDocuments(command.writing.documents));
  const std::unique_ptr<StopRule> stop = StopOnInterruptOrAfter(command.limit_seconds);
  const Terminal terminal = DescribeTerminal(STDOUT_FILENO);
  bool any_passed = false;
  Json all = Json::array();
  for (const Layout layout : command.layouts) {
    std::optional<Progress> progress;
    const Result<WritingRun> run = WriteKernels(
        RequestFor(command, layout, documents.get()), *stop, InterruptArrived,
        [&](const WritingRun& begun) {
          SayWhatBegins(begun);
          progress.emplace(Print(begun.options.gemm.shape), begun.options.answers);
        },
        [&](const WritingEvent& event) { progress->Update(event.counts.answers, NewsOf(event)); });
    progress.reset();
    RETURN_IF_ERROR(run.status());
    ASSIGN_OR_RETURN(const std::vector<std::string> files, WriteFiles(command, *run));
    any_passed = any_passed || !files.empty();
    if (command.json)
      all.push_back(JsonOf(*run, files));
    else
      RETURN_IF_ERROR(WriteOut(TextOf(*run, files, terminal)));
    if (InterruptArrived()) return Interrupted("interrupted; the same command goes on from what was exchanged");
  }
  if (command.json) RETURN_IF_ERROR(WriteOut(PrintJson(Json({{"runs", all}}))));
  return any_passed ? kExitDone : kExitNoCandidate;
}

}  // namespace gemmsmith
