#include "llm/openenv_episode.h"

#include <fmt/format.h>

#include "agents/task_text.h"
#include "base/random.h"
#include "base/text.h"
#include "base/unpredictable.h"
#include "llm/answer.h"
#include "llm/reward_http.h"
#include "problem/grids.h"
#include "problem/held_out.h"

namespace gemmsmith {
namespace {

using Json = nlohmann::ordered_json;

constexpr int kMostTurns = 64;
constexpr size_t kMostIdBytes = 255;
// In place of the id of a request: the answer held no source.
constexpr const char* kUnreadable = "unreadable";

OpenEnvError WrongData(std::string message) { return {400, "VALIDATION_ERROR", std::move(message)}; }
OpenEnvError NoVerdict(std::string message) { return {503, "EXECUTION_ERROR", std::move(message)}; }

// Of paper1000, without those that policies are compared on.
const std::vector<Shape>& DrawnShapes() {
  static const std::vector<Shape> shapes = [] {
    std::vector<Shape> kept = *LoadShapes("paper1000");
    std::erase_if(kept, [](const Shape& shape) { return IsHeldOut(shape, StandardHeldOut()); });
    return kept;
  }();
  return shapes;
}

// A member that may lack or be null.
const Json* Given(const Json& json, const char* name) {
  const auto found = json.find(name);
  return found == json.end() || found->is_null() ? nullptr : &*found;
}

Result<Gemm> ProblemIn(const Json& problem) {
  if (!problem.is_string()) return InvalidArgument("'problem' is no text, as in 256x512x4096");
  return ParseProblem(problem.get<std::string>());
}

Result<Gemm> DrawnProblem(const Json* seed) {
  if (seed != nullptr && !seed->is_number_unsigned()) return InvalidArgument("'seed' is no whole number from 0 up");
  Random random(seed == nullptr ? UnpredictableSeed() : seed->get<uint64_t>());
  return Gemm{.shape = DrawnShapes()[random.Below(DrawnShapes().size())]};
}

Result<int> TurnsIn(const Json* turns) {
  if (turns == nullptr) return 1;
  if (!turns->is_number_integer() || *turns < 1 || *turns > kMostTurns)
    return InvalidArgument(fmt::format("'turns' is no whole number from 1 to {}", kMostTurns));
  return turns->get<int>();
}

Result<std::string> EpisodeIdIn(const Json* id) {
  if (id == nullptr) return fmt::format("{:016x}{:016x}", UnpredictableSeed(), UnpredictableSeed());
  if (!id->is_string() || id->get<std::string>().size() > kMostIdBytes)
    return InvalidArgument(fmt::format("'episode_id' is no text of at most {} bytes", kMostIdBytes));
  return id->get<std::string>();
}

Json Observed(Json observation, Json reward, bool is_done) {
  return {{"observation", std::move(observation)}, {"reward", std::move(reward)}, {"done", is_done}};
}

// A whole source, or a model's answer with one in a fence. nullopt: an answer without code.
std::optional<std::string> SourceIn(const std::string& text) {
  if (text.find("```") == std::string::npos) return text;
  Result<WrittenAnswer> answer = ReadAnswer(text, {});
  if (!answer.ok()) return std::nullopt;
  return std::move(answer->source);
}

Json Timings(const Json& verdict) {
  Json times = Json::object();
  if (verdict.contains("timings"))
    for (const Json& timing : verdict["timings"])
      times[timing["contender"].get<std::string>()][timing["clock"].get<std::string>()] = timing["median_ns"];
  return times;
}

Json TextSchema(const char* description) { return {{"type", "string"}, {"description", description}}; }

Json ObjectSchema(const char* title, Json properties, std::vector<std::string> required) {
  return {
      {"title", title}, {"type", "object"}, {"properties", std::move(properties)}, {"required", std::move(required)}};
}

}  // namespace

OpenEnvAnswer OpenEnvEpisode::Reset(const Json& data) {
  if (!data.is_object()) return WrongData("the parameters of a reset are an object");
  const Json* const problem = Given(data, "problem");
  const Result<Gemm> gemm = problem == nullptr ? DrawnProblem(Given(data, "seed")) : ProblemIn(*problem);
  if (!gemm.ok()) return WrongData(gemm.status().message());
  const Result<int> turns = TurnsIn(Given(data, "turns"));
  if (!turns.ok()) return WrongData(turns.status().message());
  const Result<std::string> id = EpisodeIdIn(Given(data, "episode_id"));
  if (!id.ok()) return WrongData(id.status().message());
  gemm_ = *gemm, turns_ = *turns, id_ = *id, steps_ = 0;
  return Observed({{"problem", Print(*gemm_)}, {"task", TaskText(*gemm_, device_)}}, nullptr, false);
}

std::optional<OpenEnvError> OpenEnvEpisode::BeginStep(const Json& action) {
  if (!action.is_object() || !Given(action, "source") || !action["source"].is_string())
    return WrongData("an action is an object with 'source', a CUDA text");
  for (const auto& [name, value] : action.items())
    if (name != "source" && name != "problem" && name != "metadata")
      return WrongData(fmt::format("an action has no member '{}'", WithoutControls(name)));
  if (const Json* const problem = Given(action, "problem")) {
    const Result<Gemm> gemm = ProblemIn(*problem);
    if (!gemm.ok()) return WrongData(gemm.status().message());
    if (gemm_ && *gemm_ != *gemm) return WrongData("the episode has another problem: reset");
    gemm_ = *gemm;
  }
  if (!gemm_) return WrongData("no reset came before, and the action has no 'problem'");
  if (IsDone()) return OpenEnvError{400, "EXECUTION_ERROR", "the episode is over: reset"};
  const std::optional<std::string> source = SourceIn(action["source"].get<std::string>());
  if (!source) {
    judged_ = kUnreadable;
    return std::nullopt;
  }
  const Result<Submission> submission = queue_.Submit(
      {{.gemm = *gemm_, .subject = FreeForm{.name = "action", .text = *source}, .protocol = Protocol::kScreen}});
  if (!submission.ok()) return NoVerdict(submission.status().message());
  if (submission->is_full) return OpenEnvError{429, "CAPACITY_REACHED", "the queue is full: ask again later"};
  judged_ = submission->ids.front();
  return std::nullopt;
}

std::optional<OpenEnvAnswer> OpenEnvEpisode::EndStep() {
  if (judged_ == kUnreadable) {
    judged_.clear(), ++steps_;
    return Observed({{"problem", Print(*gemm_)}, {"verdict", "unreadable"}, {"words", "the answer has no code"}},
                    RewardOfUnreadable(), IsDone());
  }
  if (queue_.IsUnderWay(judged_)) return std::nullopt;
  const Result<std::optional<JudgeAnswer>> answer = queue_.Find(std::exchange(judged_, {}));
  if (!answer.ok() || !*answer) return NoVerdict("the journal lost a request");
  return AnswerOf(**answer);
}

OpenEnvAnswer OpenEnvEpisode::AnswerOf(const JudgeAnswer& answer) {
  const Json verdict = Json::parse(answer.json);
  const std::optional<double> reward = RewardOf(verdict);
  if (!reward) return NoVerdict(fmt::format("no reward: {}", verdict["words"].get<std::string>()));
  ++steps_;
  Json observation = {{"problem", Print(*gemm_)},    {"verdict", verdict["outcome"]},     {"words", verdict["words"]},
                      {"passed", verdict["passed"]}, {"speed_ups", verdict["speed_ups"]}, {"times", Timings(verdict)},
                      {"id", verdict["id"]}};
  if (verdict.contains("compiler_log")) observation["compiler_log"] = verdict["compiler_log"];
  return Observed(std::move(observation), *reward, IsDone());
}

Json OpenEnvEpisode::State() const {
  return {{"episode_id", id_.empty() ? Json() : Json(id_)},
          {"step_count", steps_},
          {"turns", turns_},
          {"problem", gemm_ ? Json(Print(*gemm_)) : Json()}};
}

Json OpenEnvSchemas() {
  const Json problem = TextSchema("MxNxK, perhaps followed by layout, type and accumulation");
  const Json action = ObjectSchema(
      "GemmsmithAction",
      {{"source", TextSchema("the whole CUDA source, or an answer with one source in a fence; at most 1 MiB")},
       {"problem", problem},
       {"metadata", {{"type", "object"}}}},
      {"source"});
  const Json observation = ObjectSchema("GemmsmithObservation",
                                        {{"problem", problem},
                                         {"verdict", TextSchema("the outcome: measured, wrong, compile_failed, ...")},
                                         {"words", TextSchema("the verdict and its reason")},
                                         {"passed", {{"type", "boolean"}}},
                                         {"speed_ups", {{"type", "object"}}},
                                         {"times", {{"type", "object"}}},
                                         {"id", TextSchema("of the request")},
                                         {"compiler_log", TextSchema("of a source that does not compile")}},
                                        {"problem", "verdict", "words"});
  const Json reset = ObjectSchema(
      "GemmsmithTask", {{"problem", problem}, {"task", TextSchema("problem, floor, device, rules, example")}},
      {"problem", "task"});
  const Json state = ObjectSchema("GemmsmithState",
                                  {{"episode_id", {{"type", {"string", "null"}}}},
                                   {"step_count", {{"type", "integer"}}},
                                   {"turns", {{"type", "integer"}}},
                                   {"problem", {{"type", {"string", "null"}}}}},
                                  {"step_count", "turns"});
  return {{"action", action}, {"observation", observation}, {"state", state}, {"reset_observation", reset}};
}

}  // namespace gemmsmith
