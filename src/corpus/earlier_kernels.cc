#include "corpus/earlier_kernels.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/files.h"
#include "base/text.h"
#include "policy/contrast.h"

namespace gemmsmith {

namespace {

using Json = nlohmann::ordered_json;

constexpr double kTemperature = 1;  // of the choice among buckets of speed

std::string EarlierLine(const EarlierKernel& kernel) {
  const JudgedText& judged = kernel.judged;
  const Json json = {{"problem", kernel.problem},
                     {"outcome", Name(judged.kind)},
                     {"reward", judged.reward},
                     {"time_ns", judged.time_ns ? Json(*judged.time_ns) : Json()},
                     {"speed_up", judged.speed_up ? Json(*judged.speed_up) : Json()},
                     {"text", kernel.text}};
  return json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::optional<double> OptionalIn(const Json& json, const char* name) {
  return json.at(name).is_null() ? std::nullopt : std::optional(json.at(name).get<double>());
}

Result<EarlierKernel> EarlierIn(std::string_view line) try {
  const Json json = Json::parse(line);
  const std::optional<OutcomeKind> kind = ParseOutcomeKind(json.at("outcome").get<std::string>());
  if (!kind) return DataLoss("no known outcome");
  return EarlierKernel{.problem = json.at("problem"),
                       .text = json.at("text"),
                       .judged = {.kind = *kind,
                                  .reward = json.at("reward"),
                                  .speed_up = OptionalIn(json, "speed_up"),
                                  .time_ns = OptionalIn(json, "time_ns")}};
} catch (const Json::exception&) {
  return DataLoss("no kernel; cut off?");
}

double SpeedOf(const ShownKernel& kernel) { return kernel.time_ns ? 1 / *kernel.time_ns : 0; }

}  // namespace

std::filesystem::path EarlierKernels::PathOf(int64_t step) const {
  return folder_ / fmt::format("step_{:05}.jsonl", step);
}

Status EarlierKernels::ReadBefore(int64_t step) {
  for (; next_step_ < step; ++next_step_) {
    const std::filesystem::path path = PathOf(next_step_);
    ASSIGN_OR_RETURN(const bool is_there, Exists(path));
    if (!is_there) return DataLoss(fmt::format("{} is missing: name another folder to begin anew", path.string()));
    ASSIGN_OR_RETURN(const std::string content, ReadFile(path));
    if (const Status status = AddLines(content); !status.ok()) return WithContext(status, path.string());
  }
  return OkStatus();
}

Status EarlierKernels::AddLines(std::string_view lines) {
  for (const std::string_view line : Split(lines, '\n')) {
    if (line.empty()) continue;
    ASSIGN_OR_RETURN(const EarlierKernel kernel, EarlierIn(line));
    Add(kernel);
  }
  return OkStatus();
}

Status EarlierKernels::Keep(int64_t step, std::span<const EarlierKernel> kernels) {
  std::string lines;
  for (const EarlierKernel& kernel : kernels) lines += EarlierLine(kernel);
  RETURN_IF_ERROR(WriteFileAtomic(PathOf(step), lines));
  next_step_ = step + 1;
  return AddLines(lines);  // as a run that goes on reads them: bytes that are no UTF-8 are replaced
}

void EarlierKernels::Add(const EarlierKernel& kernel) {
  const bool is_right = kernel.judged.kind == OutcomeKind::kMeasured;
  std::vector<ShownKernel>& known = by_problem_[kernel.problem];
  if (std::ranges::any_of(known, [&](const ShownKernel& other) { return other.text == kernel.text; })) return;
  known.push_back({kernel.text, kernel.judged.kind, is_right ? kernel.judged.time_ns : std::nullopt});
}

std::vector<ShownKernel> EarlierKernels::Choose(const std::string& problem, size_t count, Random& random) const {
  const auto known = by_problem_.find(problem);
  if (known == by_problem_.end()) return {};
  std::vector<double> speeds;
  for (const ShownKernel& kernel : known->second) speeds.push_back(SpeedOf(kernel));
  const std::vector<size_t> chosen = ChooseContrasting(speeds, count, kTemperature, random);
  if (chosen.size() < count) return {};
  std::vector<ShownKernel> shown;
  for (const size_t kernel : chosen) shown.push_back(known->second[kernel]);
  return shown;
}

}  // namespace gemmsmith
