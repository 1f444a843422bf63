#include "certify/memcheck.h"

#include <algorithm>
#include <chrono>

#include "base/files.h"
#include "base/installation.h"
#include "base/subprocess.h"
#include "base/text.h"
#include "evaluate/isolate/isolated_evaluator.h"
#include "evaluate/isolate/once.h"

namespace gemmsmith {

namespace {

constexpr std::chrono::seconds kLimit{300}, kLimitOfEachMore{20};
// So many failures of the tool in a row, with kernels watched alone, are the tool's own.
constexpr int kFailuresThatEnd = 2;
constexpr std::string_view kMark = "=========";

// The text of a log line without its mark; nullopt for lines that the program itself printed.
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

// Padding keeps allocations apart, or the next one might begin right behind. The log and nothing else tells of errors;
// those that API calls return the program looks at itself. The harness's kernels, which fill the inputs, are checked by
// its tests.
std::vector<std::string> CommandFor(const std::filesystem::path& tool, const std::filesystem::path& log,
                                    const std::string& entry, const std::vector<std::string>& arguments,
                                    const IsolationOptions& options) {
  std::vector<std::string> command = {tool.string(), "--tool", "memcheck", "--padding", "256", "--print-limit", "3"};
  command.insert(command.end(), {"--report-api-errors", "no", "--target-processes", "all", "--log-file"});
  command.push_back(log);
  command.insert(command.end(), {"--kernel-name", "kns=" + entry});
  command.push_back(options.worker_program.empty() ? std::filesystem::read_symlink("/proc/self/exe").string()
                                                   : options.worker_program);
  command.insert(command.end(), arguments.begin(), arguments.end());
  return command;
}

// The program's last line, without its name.
std::string LastWords(std::string_view output) {
  constexpr std::string_view kName = "gemmsmith: ";
  std::string_view last;
  for (const std::string_view line : Split(output, '\n'))
    if (!line.empty()) last = line;
  if (last.starts_with(kName)) last.remove_prefix(kName.size());
  return std::string(last);
}

Status DidNotWork(const ProcessResult& process, std::string_view log, bool is_complete) {
  const std::string all = std::string(log) + process.output;
  std::vector<std::string> words;
  for (const std::string_view word : SplitWords(std::string_view(all).substr(all.size() > 400 ? all.size() - 400 : 0)))
    words.emplace_back(word);
  const std::string end =
      process.timed_out ? "took too long" : fmt::format("ended with exit code {}", process.exit_code);
  return IoError(fmt::format("compute-sanitizer {}{}; it said: {}", end,
                             is_complete || process.timed_out ? "" : " and no summary", Join(words, " ")));
}

Outcome Ended(OutcomeKind kind, std::string reason, const Candidate& candidate) {
  Outcome outcome;
  outcome.kind = kind;
  outcome.stage = "memcheck";
  outcome.reason = std::move(reason);
  outcome.protocol = candidate.request.protocol;
  outcome.facts = candidate.prepared.compilation.binary.facts;
  outcome.compile_seconds = candidate.prepared.compilation.seconds;
  return outcome;
}

// The result of a process under the tool.
struct Session {
  ProcessResult process;
  std::string log;
  MemcheckLog found;
  bool IsClean() const {
    return found.is_complete && !process.timed_out && found.errors == 0 && process.exit_code == 0;
  }
};

Result<Session> Watch(std::span<const Candidate> candidates, const Device& device, const IsolationOptions& options) {
  ASSIGN_OR_RETURN(const std::filesystem::path tool, FindMemcheck());
  ASSIGN_OR_RETURN(const TemporaryFolder folder, TemporaryFolder::Create("gemmsmith-memcheck"));
  const std::string& entry = candidates.front().prepared.compilation.binary.entry;
  std::vector<SingleCall> calls;
  for (const Candidate& candidate : candidates) {
    GEMMSMITH_CHECK(candidate.prepared.compilation.binary.entry == entry, "kernels of different names together");
    calls.push_back({ProblemOf(candidate.request), MessageFor(candidate, device)});
  }
  ASSIGN_OR_RETURN(const std::vector<std::string> arguments,
                   ArgumentsForOnce(folder.path(), calls, options.gpu_ordinal, 1));
  const std::filesystem::path log = folder.path() / "log";
  Session session;
  const auto limit = kLimit + kLimitOfEachMore * (candidates.size() - 1);
  ASSIGN_OR_RETURN(session.process, RunProcess(CommandFor(tool, log, entry, arguments, options), limit));
  if (const Result<std::string> read = ReadFile(log); read.ok()) session.log = *read;
  session.found = ParseMemcheckLog(session.log);
  return session;
}

std::vector<MemcheckResult> WatchEach(std::span<const Candidate> candidates, const Device& device,
                                      const IsolationOptions& options) {
  std::vector<MemcheckResult> results;
  int failures = 0;  // in a row
  for (const Candidate& candidate : candidates) {
    results.push_back(failures < kFailuresThatEnd ? RunMemcheck(candidate, device, options) : results.back());
    failures = results.back().ok() ? 0 : failures + 1;
  }
  return results;
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

MemcheckResult RunMemcheck(const Candidate& candidate, const Device& device, const IsolationOptions& options) {
  ASSIGN_OR_RETURN(const Session session, Watch({&candidate, 1}, device, options));
  const auto& [process, log, found] = session;
  if (!found.is_complete || process.timed_out) return DidNotWork(process, log, found.is_complete);
  if (found.errors > 0)
    return std::optional(Ended(OutcomeKind::kWrong,
                               fmt::format("{} memory errors, the first: {}", found.errors, found.first), candidate));
  // Clean, but did it run?
  if (session.IsClean()) return std::optional<Outcome>();
  if (process.exit_code != kCallFailedExitCode) return DidNotWork(process, log, found.is_complete);
  return std::optional(Ended(OutcomeKind::kLaunchFailed,
                             fmt::format("under compute-sanitizer: {}", LastWords(process.output)), candidate));
}

std::vector<MemcheckResult> RunMemcheckTogether(std::span<const Candidate> candidates, const Device& device,
                                                const IsolationOptions& options) {
  if (candidates.size() <= 1) return WatchEach(candidates, device, options);
  const Result<Session> together = Watch(candidates, device, options);
  if (together.ok() && together->IsClean())
    return std::vector<MemcheckResult>(candidates.size(), std::optional<Outcome>());
  std::vector<MemcheckResult> alone = WatchEach(candidates, device, options);
  const bool is_explained =
      std::ranges::any_of(alone, [](const MemcheckResult& result) { return result.ok() && result->has_value(); });
  if (!together.ok() || together->found.errors == 0 || is_explained) return alone;
  // One that depends on who runs beside whom: whose it is nobody knows, and none is clean.
  const Status unexplained =
      IoError(fmt::format("compute-sanitizer saw {} memory errors of {} kernels in one process and none of each alone, "
                          "the first: {}",
                          together->found.errors, candidates.size(), together->found.first));
  return std::vector<MemcheckResult>(candidates.size(), unexplained);
}

}  // namespace gemmsmith
