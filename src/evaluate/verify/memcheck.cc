#include "evaluate/verify/memcheck.h"

#include <fcntl.h>
#include <unistd.h>

#include <chrono>

#include "base/files.h"
#include "base/installation.h"
#include "base/subprocess.h"
#include "base/text.h"
#include "evaluate/isolate/frame.h"
#include "evaluate/isolate/isolated_evaluator.h"

namespace gemmsmith {

namespace {

constexpr std::chrono::minutes kLimit{5};
constexpr std::string_view kMark = "=========";

// What a line of the log says, without its mark; nothing for lines that the program itself printed.
std::optional<std::string_view> TextOf(std::string_view line) {
  if (!line.starts_with(kMark)) return std::nullopt;
  line.remove_prefix(kMark.size());
  while (!line.empty() && (line.back() == '\r' || line.back() == ' ')) line.remove_suffix(1);
  return line;
}

std::string_view Trimmed(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  return text;
}

// A report begins with one space of indentation; what belongs to it has more.
bool IsDetail(std::string_view text) { return text.starts_with("  "); }
bool IsTitle(std::string_view text) {
  const std::string_view words = Trimmed(text);
  return !words.empty() && !IsDetail(text) && words != "COMPUTE-SANITIZER" && !words.starts_with("ERROR SUMMARY");
}
bool IsBacktrace(std::string_view detail) {
  return detail.starts_with("Saved host backtrace") || detail.starts_with("Host Frame") ||
         detail.starts_with("Device Frame");
}

// "ERROR SUMMARY: 12 errors", also where more words follow.
std::optional<int> ErrorsOf(std::string_view text) {
  constexpr std::string_view kSummary = "ERROR SUMMARY:";
  text = Trimmed(text);
  if (!text.starts_with(kSummary) || text.find("not printed") != text.npos) return std::nullopt;
  const std::vector<std::string_view> words = SplitWords(text.substr(kSummary.size()));
  const std::optional<long long> count = words.empty() ? std::nullopt : ParseInteger(words.front());
  return count && *count >= 0 && *count <= INT32_MAX ? std::optional<int>(int(*count)) : std::nullopt;
}

TestSet OnlyBinary() {
  TestSet tests;
  tests.Add(TestId::kBinary);
  return tests;
}

// What a worker is asked that has no program to talk to.
std::string RequestsFor(const EvaluationRequest& request, const PreparedCandidate& candidate, const Device& device) {
  EvaluationRequest quick = request;
  quick.protocol = Protocol::kScreen;
  quick.time = false;
  quick.certify = false;
  quick.tests = OnlyBinary();
  const CandidateMessage message = MessageFor({quick, candidate}, device);
  return EncodeFrame(FrameType::kProblem, Encode(ProblemOf(quick))) +
         EncodeFrame(FrameType::kCandidates, Encode(std::span(&message, 1)));
}

// Padding keeps allocations apart, or the next one might begin right behind. The log and nothing else tells of errors;
// API errors are the judge's business, who sees every one.
std::vector<std::string> CommandFor(const std::filesystem::path& tool, const std::filesystem::path& folder,
                                    const EvaluationRequest& request, const PreparedCandidate& candidate,
                                    const IsolationOptions& options) {
  std::vector<std::string> command = {tool.string(), "--tool", "memcheck", "--padding", "256", "--print-limit", "3"};
  command.insert(command.end(), {"--report-api-errors", "no", "--target-processes", "all", "--log-file"});
  command.push_back(folder / "log");
  // The judge's own kernels are checked by its tests; under the tool its reference product would take minutes.
  if (IsPlan(request.subject))
    command.insert(command.end(), {"--kernel-name", "kns=" + candidate.compilation.binary.entry});
  const std::string program = options.worker_program.empty() ? std::filesystem::read_symlink("/proc/self/exe").string()
                                                             : options.worker_program;
  command.insert(command.end(), {program, "worker", "--gpu", std::to_string(options.gpu_ordinal), "--requests",
                                 folder / "requests", "--answers", folder / "answers"});
  return command;
}

// What the worker said last, if it came that far.
std::optional<Outcome> AnswerIn(const std::filesystem::path& path) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  std::optional<Outcome> answer;
  for (Result<Frame> frame = ReadFrame(fd); frame.ok(); frame = ReadFrame(fd)) {
    if (frame->type != FrameType::kJudged) continue;
    const Result<Judgements> judged = DecodeJudgements(frame->payload);
    if (judged.ok() && judged->outcomes.size() == 1) answer = judged->outcomes[0];
  }
  if (fd >= 0) ::close(fd);
  return answer;
}

Status DidNotWork(const ProcessResult& process, std::string_view log) {
  const std::string all = std::string(log) + process.output;
  std::vector<std::string> words;
  for (const std::string_view word : SplitWords(std::string_view(all).substr(all.size() > 400 ? all.size() - 400 : 0)))
    words.emplace_back(word);
  return IoError(fmt::format(
      "compute-sanitizer {}; it said: {}",
      process.timed_out ? "took too long" : fmt::format("ended with exit code {} and no summary", process.exit_code),
      Join(words, " ")));
}

Outcome WrongBy(const MemcheckLog& log, const EvaluationRequest& request, const PreparedCandidate& candidate) {
  Outcome outcome;
  outcome.kind = OutcomeKind::kWrong;
  outcome.stage = "memcheck";
  outcome.reason = fmt::format("{} memory errors, the first: {}", log.errors, log.first);
  outcome.protocol = request.protocol;
  outcome.facts = candidate.compilation.binary.facts;
  outcome.compile_seconds = candidate.compilation.seconds;
  return outcome;
}

}  // namespace

MemcheckLog ParseMemcheckLog(std::string_view log) {
  MemcheckLog parsed;
  bool in_first = false;
  for (const std::string_view line : Split(log, '\n')) {
    const std::optional<std::string_view> text = TextOf(line);
    if (!text) continue;
    if (const std::optional<int> errors = ErrorsOf(*text)) {
      parsed.is_complete = true;
      parsed.errors += *errors;  // a line each where there are several processes
      in_first = false;
    } else if (IsTitle(*text)) {
      in_first = parsed.first.empty();
      if (in_first) parsed.first = Trimmed(*text);
    } else if (in_first && IsDetail(*text) && !IsBacktrace(Trimmed(*text))) {
      parsed.first += ", " + std::string(Trimmed(*text));
    } else {
      in_first = false;
    }
  }
  return parsed;
}

Result<std::filesystem::path> FindMemcheck() {
  const std::optional<std::filesystem::path> tool = FindProgram("compute-sanitizer");
  if (tool) return *tool;
  return Unavailable(
      "there is no compute-sanitizer on PATH or in the CUDA toolkit; it comes with the toolkit (cuda-sanitizer), or "
      "leave --memcheck away");
}

Result<std::optional<Outcome>> RunMemcheck(const EvaluationRequest& request, const PreparedCandidate& candidate,
                                           const Device& device, const IsolationOptions& options) {
  ASSIGN_OR_RETURN(const std::filesystem::path tool, FindMemcheck());
  ASSIGN_OR_RETURN(const TemporaryFolder folder, TemporaryFolder::Create("gemmsmith-memcheck"));
  RETURN_IF_ERROR(WriteFileAtomic(folder.path() / "requests", RequestsFor(request, candidate, device)));
  ASSIGN_OR_RETURN(const ProcessResult process,
                   RunProcess(CommandFor(tool, folder.path(), request, candidate, options), kLimit));
  const Result<std::string> log = ReadFile(folder.path() / "log");
  const MemcheckLog found = ParseMemcheckLog(log.ok() ? *log : "");
  if (!found.is_complete || process.timed_out) return DidNotWork(process, log.ok() ? *log : "");
  if (found.errors > 0) return std::optional<Outcome>(WrongBy(found, request, candidate));
  // Clean, but did it run? The judge's answer says so.
  const std::optional<Outcome> answer = AnswerIn(folder.path() / "answers");
  if (!answer) return DidNotWork(process, *log);
  if (answer->kind == OutcomeKind::kVerified) return std::optional<Outcome>();
  Outcome ended = *answer;
  ended.stage = "memcheck";
  ended.reason = fmt::format("under compute-sanitizer: {}", ended.reason);
  ended.facts = candidate.compilation.binary.facts;
  return std::optional<Outcome>(std::move(ended));
}

}  // namespace gemmsmith
