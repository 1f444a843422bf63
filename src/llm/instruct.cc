#include "llm/instruct.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <thread>

#include "base/text.h"
#include "corpus/text_shards.h"
#include "llm/logged.h"

namespace gemmsmith {

namespace {

namespace fs = std::filesystem;

constexpr const char *kInstructRun = "run", *kInstructModel = "model";
constexpr size_t kAskedAtOnce = 8;
constexpr size_t kMostCodeAsked = 8 << 10, kLongestInstructionAnswer = 600, kFewestInstructionWords = 3;

constexpr std::string_view kTaskOfInstructor =
    "You write instructions for a data set of CUDA code. For the code that you are shown, write the instruction that "
    "a programmer would give to have it written: what it computes, from what, and what matters about how. One to three "
    "sentences, on one line, without code and without the words of this task. Answer with the instruction alone.";

class Instructor {
 public:
  Instructor(const InstructOptions& options, ChatModel* endpoint) : options_(options), endpoint_(endpoint) {
    summary_.model = options.model;
  }

  // The model of a cassette is named in each of its files.
  Status FindModel() {
    if (options_.cassette.empty()) return OkStatus();
    ASSIGN_OR_RETURN(const std::vector<fs::path> files, TextShardsAt(options_.cassette));
    ASSIGN_OR_RETURN(const std::unique_ptr<ExchangeLog> log, ExchangeLog::Open(files.front(), true));
    ASSIGN_OR_RETURN(const std::string model, ModelOf(*log, files.front()));
    if (summary_.model.empty()) summary_.model = model;
    return OkStatus();
  }

  Result<std::vector<Snippet>> Make(std::vector<Snippet> snippets, const std::string& shard) {
    const bool is_replay = !options_.cassette.empty();
    const fs::path folder = is_replay ? options_.cassette : options_.output / "exchanges";
    ASSIGN_OR_RETURN(const std::unique_ptr<ExchangeLog> log, ExchangeLog::Open(folder / shard, is_replay));
    if (!is_replay && log->size() == 0) RETURN_IF_ERROR(log->Append(kInstructRun, kInstructModel, {}, summary_.model));
    ASSIGN_OR_RETURN(const std::string answers_by, ModelOf(*log, folder / shard));
    if (answers_by != summary_.model)
      return InvalidArgument(fmt::format("{} has answers of {}, not of {}: name another folder, or that model",
                                         (folder / shard).string(), answers_by, summary_.model));
    std::vector<Snippet*> asked;
    for (Snippet& snippet : snippets)
      if (snippet.kind != SnippetKind::kSection) asked.push_back(&snippet);
    for (size_t begin = 0; begin < asked.size(); begin += kAskedAtOnce) {
      const std::span<Snippet*> some = std::span(asked).subspan(begin, std::min(kAskedAtOnce, asked.size() - begin));
      RETURN_IF_ERROR(AskFor(some, *log));
    }
    return snippets;
  }

  InstructSummary& summary() { return summary_; }

 private:
  static Result<std::string> ModelOf(const ExchangeLog& log, const fs::path& path) {
    const std::optional<nlohmann::ordered_json> model = log.Find(kInstructRun, kInstructModel);
    if (!model || !model->is_string()) return DataLoss(fmt::format("{} is no log of instructions", path.string()));
    return model->get<std::string>();
  }

  Status AskFor(std::span<Snippet*> snippets, ExchangeLog& log) {
    std::vector<ChatRequest> requests;
    for (const Snippet* snippet : snippets) requests.push_back(InstructionRequest(*snippet, summary_.model));
    LoggedModel model(endpoint_, log);
    std::vector<Result<ChatAnswer>> answers(snippets.size(), Unavailable("not asked"));
    {
      std::vector<std::jthread> threads;
      for (size_t i = 0; i < snippets.size(); ++i)
        threads.emplace_back([&, i] { answers[i] = model.Ask(requests[i]); });
    }
    for (const Result<ChatAnswer>& answer : answers)
      if (!answer.ok() && !IsRefusal(answer)) return answer.status();
    // An endpoint that takes none of the questions needs other options.
    const bool has_answered = summary_.written + summary_.unreadable > 0 || !std::ranges::all_of(answers, IsRefusal);
    if (!has_answered) return answers.front().status();
    for (size_t i = 0; i < snippets.size(); ++i) {
      if (answers[i].ok()) {
        Take(InstructionInAnswer(*answers[i]), *snippets[i]);
        continue;
      }
      ++summary_.refused;
      RETURN_IF_ERROR(model.KeepRefusal(requests[i], answers[i].status().message()));
    }
    return OkStatus();
  }

  void Take(std::string instruction, Snippet& snippet) {
    if (instruction.empty()) {
      ++summary_.unreadable;
      return;
    }
    ++summary_.written;
    snippet.instruction = std::move(instruction);
    snippet.instruction_by = summary_.model;
  }

  const InstructOptions& options_;
  ChatModel* const endpoint_;
  InstructSummary summary_;
};

}  // namespace

ChatRequest InstructionRequest(const Snippet& snippet, const std::string& model) {
  std::string text = fmt::format("{} {}, from {}\n", Name(snippet.kind), snippet.title, snippet.path);
  if (!snippet.instruction.empty()) text += fmt::format("The author's comment: {}\n", snippet.instruction);
  text += "\n" + snippet.text.substr(0, kMostCodeAsked);
  return {.model = model,
          .messages = {{"system", std::string(kTaskOfInstructor)}, {"user", std::move(text)}},
          .temperature = 0,
          .answer_tokens = 512};
}

std::string InstructionInAnswer(const ChatAnswer& answer) {
  std::string line;
  for (const std::string_view word : SplitWords(answer.text)) line += (line.empty() ? "" : " ") + std::string(word);
  if (line.size() >= 2 && line.front() == '"' && line.back() == '"') line = line.substr(1, line.size() - 2);
  const bool is_instruction = !answer.is_cut && line.size() <= kLongestInstructionAnswer &&
                              line.find("```") == std::string::npos &&
                              size_t(std::ranges::count(line, ' ')) + 1 >= kFewestInstructionWords;
  return is_instruction ? line : "";
}

Result<InstructSummary> WriteInstructions(const InstructOptions& options, ChatModel* endpoint,
                                          std::function<bool()> stop,
                                          std::function<void(int64_t shards, int64_t of)> watch) {
  Instructor instructor(options, endpoint);
  RETURN_IF_ERROR(instructor.FindModel());
  const SnippetStage stage{
      .command = "corpus instruct by " + instructor.summary().model,
      .input = options.input,
      .output = options.output,
      .make = [&](std::vector<Snippet> snippets,
                  const std::string& shard) { return instructor.Make(std::move(snippets), shard); },
      .keep = nullptr,
      .stop = std::move(stop),
      .watch = std::move(watch)};
  ASSIGN_OR_RETURN(instructor.summary().stage, RunStage(stage));
  return instructor.summary();
}

}  // namespace gemmsmith
