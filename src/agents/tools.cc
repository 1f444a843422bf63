#include "agents/tools.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "agents/best_kernels.h"
#include "agents/task_text.h"
#include "base/text.h"
#include "program/emit.h"
#include "program/legality.h"

namespace gemmsmith {
namespace {

using Json = nlohmann::ordered_json;
using Moment = std::chrono::steady_clock;

// Clients give up after a minute, many of them.
constexpr int kUsualWaitSeconds = 50;
constexpr size_t kMostBest = 10;

Json Schema(Json properties, std::vector<std::string> required) {
  return {{"type", "object"},
          {"properties", std::move(properties)},
          {"required", std::move(required)},
          {"additionalProperties", false}};
}

Json TextProperty(const char* description) { return {{"type", "string"}, {"description", description}}; }

Json ProblemProperty() {
  return TextProperty(
      "MxNxK, perhaps followed by layout, type and accumulation: '256x512x4096', '64x4096x4096 nn bf16 f32'. Layout "
      "tn, type f16 and f32 sums where they are left out");
}

Json JudgingProperties(const char* subject, const char* description) {
  return {{"problem", ProblemProperty()},
          {subject, TextProperty(description)},
          {"protocol",
           {{"type", "string"},
            {"enum", {"screen", "short"}},
            {"description", "short (default): every test, all baselines. screen: a quick look"}}},
          {"counters", {{"type", "boolean"}, {"description", "read the profiler's counters too"}}},
          {"wait_seconds",
           {{"type", "integer"},
            {"minimum", 0},
            {"maximum", kMostWaitSeconds},
            {"description", "how long to wait for the verdict [50]; then the state is pending"}}}};
}

Json SourceProperties() {
  Json properties = JudgingProperties("source", "the whole .cu text, at most 1 MiB");
  properties["name"] = TextProperty("a name for the record");
  return properties;
}

Json Tool(const char* name, const char* description, Json schema) {
  return {{"name", name}, {"description", description}, {"inputSchema", std::move(schema)}};
}

Json MakeList() {
  return Json::array(
      {Tool("get_task",
            "A GEMM problem as text: its arithmetic, the floor of its time, the device, the rules that a CUDA source "
            "must obey, and an example of one. Begin here.",
            Schema({{"problem", ProblemProperty()}}, {"problem"})),
       Tool("judge_source",
            "Judges a CUDA source for a problem: verdict, stage, the reason in words, times and speed-ups over "
            "cuBLASLt. The same text is judged once.",
            Schema(SourceProperties(), {"problem", "source"})),
       Tool("judge_plan", "Judges a plan of gemmsmith's own kernel families, such as 'wgmma tile_m=128 tile_n=128'.",
            Schema(JudgingProperties("plan", "a plan's words"), {"problem", "plan"})),
       Tool("get_result", "The verdict of a request that was pending.",
            Schema({{"id", TextProperty("the id that judge_source or judge_plan answered")},
                    {"wait_seconds", {{"type", "integer"}, {"minimum", 0}, {"maximum", kMostWaitSeconds}}}},
                   {"id"})),
       Tool("list_best", "The fastest kernels known for a problem: those of the archive, beside the catalogue's entry.",
            Schema({{"problem", ProblemProperty()}}, {"problem"})),
       Tool("show_source",
            "A kernel as one standalone CUDA source: of the catalogue's entry for the problem, of a plan, or a source "
            "that was judged.",
            Schema({{"problem", ProblemProperty()},
                    {"plan", TextProperty("a plan's words, instead of the catalogue's entry")},
                    {"id", TextProperty("id of a judged source, or its hash as list_best gives it, instead of a "
                                        "problem")}},
                   {}))});
}

Result<std::string> Text(const Json& arguments, const char* name) {
  const auto found = arguments.find(name);
  if (found == arguments.end()) return InvalidArgument(fmt::format("'{}' is missing", name));
  if (!found->is_string()) return InvalidArgument(fmt::format("'{}' is not a string", name));
  return found->get<std::string>();
}

Result<Moment::time_point> DeadlineIn(const Json& arguments) {
  const auto found = arguments.find("wait_seconds");
  if (found == arguments.end()) return Moment::now() + std::chrono::seconds(kUsualWaitSeconds);
  const bool is_right = found->is_number_integer() && *found >= 0 && *found <= kMostWaitSeconds;
  if (!is_right) return InvalidArgument(fmt::format("'wait_seconds' is not a number from 0 to {}", kMostWaitSeconds));
  return Moment::now() + std::chrono::seconds(found->get<int>());
}

const Json& ToolNamed(const std::string& name) {
  static const Json kTools = MakeList();
  static const Json kNone;
  const auto found = std::find_if(kTools.begin(), kTools.end(), [&](const Json& tool) { return tool["name"] == name; });
  return found == kTools.end() ? kNone : *found;
}

Status CheckArguments(const std::string& name, const Json& arguments) {
  const Json& known = ToolNamed(name)["inputSchema"]["properties"];
  for (const auto& [argument, value] : arguments.items())
    if (!known.contains(argument))
      return InvalidArgument(fmt::format("{} has no argument '{}'", name, WithoutControls(argument)));
  return OkStatus();
}

ToolAnswer ErrorOf(const Status& status) { return {.is_error = true, .text = status.message()}; }

ToolAnswer AnswerFound(const Result<std::optional<JudgeAnswer>>& found, const std::string& id) {
  if (!found.ok()) return ErrorOf(found.status());
  if (!*found) return ErrorOf(NotFound(fmt::format("no request has the id '{}'", WithoutControls(id))));
  const JudgeAnswer& answer = **found;
  return {.is_error = answer.state == JudgeState::kFailed, .text = answer.json, .is_json = true};
}

Result<AwaitedVerdict> VerdictNamedIn(const Json& arguments) {
  ASSIGN_OR_RETURN(const Moment::time_point deadline, DeadlineIn(arguments));
  ASSIGN_OR_RETURN(std::string id, Text(arguments, "id"));
  return AwaitedVerdict{std::move(id), deadline};
}

}  // namespace

Json Tools::List() { return MakeList(); }
bool Tools::Has(const std::string& name) { return !ToolNamed(name).is_null(); }

BegunCall Tools::Begin(const std::string& name, const Json& arguments) {
  const bool is_awaited = name == "judge_source" || name == "judge_plan" || name == "get_result";
  if (const Status status = CheckArguments(name, arguments); !status.ok()) return ErrorOf(status);
  if (!is_awaited) {
    Result<ToolAnswer> answer = AnswerAtOnce(name, arguments);
    return answer.ok() ? *std::move(answer) : ErrorOf(answer.status());
  }
  Result<AwaitedVerdict> verdict = name == "get_result" ? VerdictNamedIn(arguments) : Submit(arguments);
  if (!verdict.ok()) return ErrorOf(verdict.status());
  return *std::move(verdict);
}

bool Tools::IsDue(const AwaitedVerdict& verdict) const {
  return Moment::now() >= verdict.deadline || !ground_.queue.IsUnderWay(verdict.id);
}

ToolAnswer Tools::Answer(const AwaitedVerdict& verdict) const {
  return AnswerFound(ground_.queue.Find(verdict.id), verdict.id);
}

ToolAnswer Tools::Await(const AwaitedVerdict& verdict) {
  const auto limit = std::chrono::ceil<std::chrono::milliseconds>(verdict.deadline - Moment::now());
  return AnswerFound(ground_.queue.Wait(verdict.id, limit), verdict.id);
}

Result<ToolAnswer> Tools::AnswerAtOnce(const std::string& name, const Json& arguments) const {
  if (name == "get_task") return GetTask(arguments);
  return name == "list_best" ? ListBest(arguments) : ShowSource(arguments);
}

Result<ToolAnswer> Tools::GetTask(const Json& arguments) const {
  ASSIGN_OR_RETURN(const std::string problem, Text(arguments, "problem"));
  ASSIGN_OR_RETURN(const Gemm gemm, ParseProblem(problem));
  return ToolAnswer{.text = TaskText(gemm, ground_.device)};
}

Result<AwaitedVerdict> Tools::Submit(const Json& arguments) {
  ASSIGN_OR_RETURN(const Moment::time_point deadline, DeadlineIn(arguments));
  Json asked = arguments;
  asked.erase("wait_seconds");
  ASSIGN_OR_RETURN(JudgeRequest request, ParseJudgeRequest(asked));
  std::vector<JudgeRequest> requests;
  requests.push_back(std::move(request));
  ASSIGN_OR_RETURN(const Submission submission, ground_.queue.Submit(std::move(requests)));
  if (submission.is_full) return Unavailable("the judge has too much to do: send the same request again in a minute");
  return AwaitedVerdict{submission.ids.front(), deadline};
}

Result<ToolAnswer> Tools::ListBest(const Json& arguments) const {
  ASSIGN_OR_RETURN(const std::string problem, Text(arguments, "problem"));
  ASSIGN_OR_RETURN(const Gemm gemm, ParseProblem(problem));
  const Catalogue* const catalogue = ground_.catalogue ? &*ground_.catalogue : nullptr;
  ASSIGN_OR_RETURN(const Json best, BestKernels(gemm, ground_.device, ground_.archive, catalogue, kMostBest));
  return ToolAnswer{.text = PrintLine(best), .is_json = true};
}

Result<ToolAnswer> Tools::ShowSource(const Json& arguments) const {
  if (arguments.contains("id")) {
    ASSIGN_OR_RETURN(const std::string id, Text(arguments, "id"));
    ASSIGN_OR_RETURN(std::optional<std::string> source, ground_.journal.FindSource(id));
    if (!source) return NotFound(fmt::format("no source with the id or hash '{}'", WithoutControls(id)));
    return ToolAnswer{.text = *std::move(source)};
  }
  ASSIGN_OR_RETURN(const std::string problem, Text(arguments, "problem"));
  ASSIGN_OR_RETURN(const Gemm gemm, ParseProblem(problem));
  Plan plan;
  if (arguments.contains("plan")) {
    ASSIGN_OR_RETURN(const std::string words, Text(arguments, "plan"));
    ASSIGN_OR_RETURN(plan, ParsePlan(words));
  } else {
    const Entry* const entry = EntryFor(gemm, ground_.device, ground_.catalogue ? &*ground_.catalogue : nullptr);
    if (entry == nullptr) return NotFound(fmt::format("no catalogue here has a kernel for {}", Print(gemm)));
    plan = entry->plan;
  }
  if (const std::vector<std::string> reasons = Check(plan, gemm, ground_.device); !reasons.empty())
    return InvalidArgument(Join(reasons, "; "));
  return ToolAnswer{.text = EmitStandalone(plan, gemm)};
}

}  // namespace gemmsmith
