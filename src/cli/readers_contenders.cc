// What is judged and what is raced: plans, sources and libraries.
#include "cli/readers.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/files.h"
#include "base/text.h"
#include "outcome/baseline_set.h"

namespace gemmsmith {

namespace {

constexpr std::string_view kBaselineKinds[] = {"lt_auto", "lt_heuristic", "cublas", "torch", "lt_exhaustive"};
// "baselines": the libraries that every machine with the toolkit has.
constexpr std::string_view kUsualBaselines[] = {"lt_auto", "lt_heuristic", "cublas"};

bool IsBaseline(std::string_view word) {
  return std::ranges::find(kBaselineKinds, FamilyOf(word)) != std::end(kBaselineKinds);
}

Result<std::filesystem::path> FileThatExists(std::string_view what, std::string_view path) {
  std::error_code error;
  if (!path.empty() && std::filesystem::exists(path, error)) return std::filesystem::path(path);
  return NotFound(fmt::format("{}: there is no '{}'", what, path));
}

Status AddContender(std::string_view word, BenchContenders& contenders, std::vector<std::string>& baselines) {
  const size_t colon = word.find(':');
  const std::string_view kind = word.substr(0, colon);
  const std::string_view rest = colon == word.npos ? std::string_view() : word.substr(colon + 1);
  if (colon != word.npos && kind == "best") {
    RecordSource& source = contenders.best.emplace_back();
    // A name may have a plus sign in it.
    const bool is_one = FileThatExists(word, rest).ok();
    for (const std::string_view path : is_one ? std::vector{rest} : Split(rest, '+')) {
      ASSIGN_OR_RETURN(source.emplace_back(), FileThatExists(word, path));
    }
    return OkStatus();
  }
  if (colon != word.npos && (kind == "plans" || kind == "file" || kind == "so")) {
    ASSIGN_OR_RETURN(const std::filesystem::path path, FileThatExists(word, rest));
    if (kind == "plans") contenders.plan_files.push_back(path);
    if (kind == "file") contenders.sources.push_back(path);
    std::error_code error;
    if (kind == "so") baselines.push_back("so:" + std::filesystem::absolute(path, error).string());
    if (error) return IoError(fmt::format("{}: {}", word, error.message()));
    return OkStatus();
  }
  if (colon != word.npos && kind == "plan") {
    ASSIGN_OR_RETURN(const Plan plan, ParsePlan(rest));
    contenders.plans.push_back(plan);
    return OkStatus();
  }
  if (word == "best") {
    contenders.best.emplace_back();
    return OkStatus();
  }
  if (word == "standalone" || word == "flat") {
    (word == "flat" ? contenders.flat : contenders.standalone) = true;
    return OkStatus();
  }
  if (word == "baselines") {
    baselines.insert(baselines.end(), std::begin(kUsualBaselines), std::end(kUsualBaselines));
    return OkStatus();
  }
  if (IsBaseline(word)) {
    baselines.emplace_back(word);
    return OkStatus();
  }
  std::vector<std::string_view> known = {"baselines", "best",       "standalone", "flat",
                                         "plan:TEXT", "plans:FILE", "file:X.cu",  "so:PATH"};
  known.insert(known.end(), std::begin(kBaselineKinds), std::end(kBaselineKinds));
  return NoSuchWord("contender", word, known);
}

}  // namespace

Result<FreeForm> ReadSource(const std::filesystem::path& path) {
  ASSIGN_OR_RETURN(std::string text, ReadFile(path));
  return FreeForm{path.filename().string(), std::move(text)};
}

Result<Subject> ReadSubject(std::string_view text) {
  const std::filesystem::path path(text);
  std::error_code none;
  if (text.ends_with(".cu")) {
    ASSIGN_OR_RETURN(FreeForm source, ReadSource(path));
    return Subject(std::move(source));
  }
  if (!std::filesystem::is_regular_file(path, none)) {
    Result<Plan> plan = ParsePlan(text);
    if (plan.ok()) return Subject(*std::move(plan));
    if (!std::filesystem::exists(path, none)) return plan.status();
    return InvalidArgument(fmt::format("{} is neither a plan nor a file that holds one", text));
  }
  ASSIGN_OR_RETURN(const std::string content, ReadFile(path));
  if (const std::vector<ListLine> lines = ListLines(content); !lines.empty()) {
    ASSIGN_OR_RETURN(const Plan plan, ParsePlan(lines.front().text));
    return Subject(plan);
  }
  return InvalidArgument(fmt::format("{} holds no plan", path.string()));
}

Result<BenchContenders> ReadContenders(std::string_view text) {
  BenchContenders contenders;
  std::vector<std::string> baselines;
  for (const std::string_view word : Split(text, ',')) RETURN_IF_ERROR(AddContender(word, contenders, baselines));
  contenders.baselines = Join(baselines, ",");
  if (!baselines.empty()) RETURN_IF_ERROR(BaselineSet::Parse(contenders.baselines).status());
  return contenders;
}

}  // namespace gemmsmith
