#include "agents/judge_request.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

#include "base/hash.h"
#include "base/text.h"
#include "program/free_form.h"

namespace gemmsmith {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::array<std::string_view, 6> kMembers = {"problem", "source", "plan", "name", "protocol", "counters"};
constexpr double kMaxProblemBytes = 8e9;
constexpr size_t kMaxNameBytes = 100, kMaxProblemText = 256;

Result<std::string> TextMember(const Json& json, const char* name) {
  const auto found = json.find(name);
  if (found == json.end()) return InvalidArgument(fmt::format("'{}' is missing", name));
  if (!found->is_string()) return InvalidArgument(fmt::format("'{}' is not a string", name));
  return found->get<std::string>();
}

Status CheckMembers(const Json& json) {
  if (!json.is_object()) return InvalidArgument("a request is an object with 'problem' and 'source' or 'plan'");
  for (const auto& [name, value] : json.items())
    if (std::find(kMembers.begin(), kMembers.end(), name) == kMembers.end())
      return InvalidArgument(fmt::format("'{}' is no member of a request, which has {}",
                                         WithoutControls(name.substr(0, kMaxNameBytes)), fmt::join(kMembers, ", ")));
  return OkStatus();
}

Result<Subject> SourceOf(const Json& json) {
  FreeForm source{.name = "unnamed"};
  ASSIGN_OR_RETURN(source.text, TextMember(json, "source"));
  if (json.contains("name")) {
    ASSIGN_OR_RETURN(source.name, TextMember(json, "name"));
    if (source.name.empty() || source.name.size() > kMaxNameBytes)
      return InvalidArgument(fmt::format("'name' has 1 to {} bytes", kMaxNameBytes));
    source.name = WithoutControls(source.name);
  }
  return Subject(std::move(source));
}

Result<Subject> SubjectIn(const Json& json) {
  if (json.contains("source") == json.contains("plan"))
    return InvalidArgument("a request has either 'source', a CUDA text, or 'plan', a plan's words");
  if (json.contains("source")) return SourceOf(json);
  if (json.contains("name")) return InvalidArgument("'name' is for a source");
  ASSIGN_OR_RETURN(const std::string text, TextMember(json, "plan"));
  ASSIGN_OR_RETURN(const Plan plan, ParsePlan(text));
  return Subject(plan);
}

Result<Protocol> ProtocolIn(const Json& json) {
  if (!json.contains("protocol")) return Protocol::kShort;
  ASSIGN_OR_RETURN(const std::string name, TextMember(json, "protocol"));
  const std::optional<Protocol> protocol = ParseProtocol(name);
  if (protocol == Protocol::kScreen || protocol == Protocol::kShort) return *protocol;
  return InvalidArgument("'protocol' is neither \"screen\" nor \"short\"");
}

}  // namespace

Result<Gemm> ParseProblem(std::string_view text) {
  if (text.size() > kMaxProblemText)
    return InvalidArgument(fmt::format("a text of more than {} bytes is no problem", kMaxProblemText));
  Gemm gemm;
  if (const Result<Shape> shape = ParseShape(text); shape.ok()) {
    gemm.shape = *shape;
    if (const std::vector<std::string> reasons = WhyInvalid(gemm); !reasons.empty()) return InvalidArgument(reasons[0]);
  } else {
    ASSIGN_OR_RETURN(gemm, ParseGemm(text.starts_with("gemm ") ? std::string(text) : fmt::format("gemm {}", text)));
  }
  if (const double bytes = MakeTask(gemm).bytes; bytes > kMaxProblemBytes)
    return InvalidArgument(
        fmt::format("matrices of {:.1f} GB, at most {:.0f} are judged", bytes / 1e9, kMaxProblemBytes / 1e9));
  return gemm;
}

Result<JudgeRequest> ParseJudgeRequest(const Json& json) {
  RETURN_IF_ERROR(CheckMembers(json));
  JudgeRequest request;
  ASSIGN_OR_RETURN(const std::string problem, TextMember(json, "problem"));
  ASSIGN_OR_RETURN(request.gemm, ParseProblem(problem));
  ASSIGN_OR_RETURN(request.subject, SubjectIn(json));
  ASSIGN_OR_RETURN(request.protocol, ProtocolIn(json));
  if (const auto counters = json.find("counters"); counters != json.end()) {
    if (!counters->is_boolean()) return InvalidArgument("'counters' is neither true nor false");
    request.counters = counters->get<bool>();
  }
  const bool is_packed = request.gemm.lda == 0 && request.gemm.ldb == 0 && request.gemm.ldc == 0;
  if (!IsPlan(request.subject) && !is_packed)
    return InvalidArgument("a source is judged on packed matrices only: its launcher is not told lda, ldb or ldc");
  return request;
}

Json JsonOf(const JudgeRequest& request) {
  Json json = {{"problem", Print(request.gemm)}};
  if (const FreeForm* const source = std::get_if<FreeForm>(&request.subject))
    json["source"] = source->text, json["name"] = source->name;
  else
    json["plan"] = Print(std::get<Plan>(request.subject));
  json["protocol"] = Name(request.protocol);
  json["counters"] = request.counters;
  return json;
}

std::string IdOf(const JudgeRequest& request, std::string_view judge) {
  const FreeForm* const source = std::get_if<FreeForm>(&request.subject);
  const std::string subject =
      source == nullptr ? Print(std::get<Plan>(request.subject)) : "source " + HashBytes(source->text).Hex();
  return HashBytes(fmt::format("{}\n{}\n{}\n{}\n{}", judge, Print(request.gemm), subject, Name(request.protocol),
                               request.counters ? "counters" : ""))
      .Hex();
}

}  // namespace gemmsmith
