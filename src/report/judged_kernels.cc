#include "report/judged_kernels.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>

#include "base/files.h"
#include "base/random.h"
#include "base/text.h"
#include "report/search_comparison.h"

namespace gemmsmith {

namespace {

constexpr const char* kUnfinished = "unfinished";
constexpr int kResamples = 2000;

Result<JudgedKernel> KernelOf(std::string_view line) {
  const nlohmann::json json = nlohmann::json::parse(line, nullptr, false);
  if (!json.is_object()) return DataLoss("the line is no JSON object; cut off?");
  const auto text_of = [&](const char* key) -> Result<std::string> {
    const auto found = json.find(key);
    if (found == json.end() || !found->is_string()) return DataLoss(fmt::format("no text \"{}\"", key));
    return found->get<std::string>();
  };
  const auto number_of = [&](const char* key) -> std::optional<double> {
    const auto found = json.find(key);
    return found != json.end() && found->is_number() ? std::optional(found->get<double>()) : std::nullopt;
  };
  JudgedKernel kernel{
      .reward = number_of("reward"), .speed_up = number_of("speed_up"), .final_speed_up = number_of("final")};
  if (const auto novel = json.find("novel"); novel != json.end() && novel->is_boolean())
    kernel.is_novel = novel->get<bool>();
  ASSIGN_OR_RETURN(kernel.file, text_of("file"));
  ASSIGN_OR_RETURN(const std::string problem, text_of("problem"));
  ASSIGN_OR_RETURN(kernel.gemm, ParseGemm(problem));
  ASSIGN_OR_RETURN(const std::string outcome, text_of("outcome"));
  if (outcome == kUnfinished) return kernel;
  kernel.outcome = ParseOutcomeKind(outcome);
  if (!kernel.outcome) return DataLoss(fmt::format("no outcome is called \"{}\"", outcome));
  return kernel;
}

using SpeedUps = std::map<Gemm, std::vector<double>>;

SpeedUps SpeedUpsOf(std::span<const JudgedKernel> kernels) {
  SpeedUps by_problem;
  for (const JudgedKernel& kernel : kernels) by_problem[kernel.gemm].push_back(kernel.speed_up.value_or(0));
  return by_problem;
}

// Problem by problem.
std::vector<double> ExpectedBestOf(const SpeedUps& by_problem, size_t draws) {
  std::vector<double> expected;
  for (const auto& [gemm, speed_ups] : by_problem) expected.push_back(BestOfDraws(speed_ups, draws).mean.back());
  return expected;
}

// Where 95 % of the statistic's values lie when as many problems are drawn again, with return.
Interval Resampled(size_t problems, const std::function<double(std::span<const size_t>)>& statistic) {
  Random random(1);
  std::vector<size_t> drawn(problems);
  std::vector<double> values;
  for (int i = 0; i < kResamples; ++i) {
    for (size_t& problem : drawn) problem = random.Below(problems);
    values.push_back(statistic(drawn));
  }
  return {Quantile(values, 0.025), Quantile(values, 0.975)};
}

double SumOf(std::span<const double> values, std::span<const size_t> chosen) {
  double sum = 0;
  for (const size_t i : chosen) sum += values[i];
  return sum;
}

}  // namespace

Status WriteJudgedKernels(const std::vector<JudgedKernel>& kernels, const std::filesystem::path& path) {
  std::string lines;
  for (const JudgedKernel& kernel : kernels) {
    nlohmann::ordered_json line = {{"file", kernel.file},
                                   {"problem", Print(kernel.gemm)},
                                   {"outcome", kernel.outcome ? Name(*kernel.outcome) : kUnfinished}};
    if (kernel.reward) line["reward"] = *kernel.reward;
    if (kernel.speed_up) line["speed_up"] = *kernel.speed_up;
    if (kernel.is_novel) line["novel"] = *kernel.is_novel;
    if (kernel.final_speed_up) line["final"] = *kernel.final_speed_up;
    lines += line.dump() + "\n";
  }
  return WriteFileAtomic(path, lines);
}

Result<std::vector<JudgedKernel>> ReadJudgedKernels(const std::filesystem::path& path) {
  ASSIGN_OR_RETURN(const std::string text, ReadFile(path));
  std::vector<JudgedKernel> kernels;
  for (const std::string_view line : Split(text, '\n')) {
    if (line.empty()) continue;
    Result<JudgedKernel> kernel = KernelOf(line);
    if (!kernel.ok()) return WithContext(kernel.status(), fmt::format("{}:{}", path.string(), kernels.size() + 1));
    kernels.push_back(*std::move(kernel));
  }
  if (kernels.empty()) return NotFound(fmt::format("{} has no kernel", path.string()));
  return kernels;
}

KernelShares SharesOf(std::span<const JudgedKernel> kernels) {
  KernelShares shares{.all = kernels.size()};
  for (const JudgedKernel& kernel : kernels) {
    shares.finished += kernel.outcome.has_value();
    shares.compiled += kernel.outcome && *kernel.outcome > OutcomeKind::kResourceOver;
    shares.right += kernel.outcome == OutcomeKind::kMeasured;
    shares.cheats += kernel.outcome == OutcomeKind::kCheated;
    shares.looked_up += kernel.is_novel.has_value();
    shares.novel += kernel.is_novel.value_or(false);
  }
  return shares;
}

std::map<Gemm, size_t> FastestKernels(std::span<const JudgedKernel> kernels) {
  std::map<Gemm, size_t> fastest;
  for (size_t i = 0; i < kernels.size(); ++i) {
    if (!kernels[i].speed_up) continue;
    const auto [found, is_first] = fastest.try_emplace(kernels[i].gemm, i);
    if (*kernels[i].speed_up > *kernels[found->second].speed_up) found->second = i;
  }
  return fastest;
}

std::optional<FinalSpeedUp> FinalSpeedUpOf(std::span<const JudgedKernel> kernels) {
  std::vector<double> logs;
  for (const JudgedKernel& kernel : kernels)
    if (kernel.final_speed_up) logs.push_back(std::log(*kernel.final_speed_up));
  if (logs.empty()) return std::nullopt;
  const Interval interval =
      Resampled(logs.size(), [&](std::span<const size_t> drawn) { return SumOf(logs, drawn) / double(drawn.size()); });
  return FinalSpeedUp{logs.size(), std::exp(Mean(logs)), {std::exp(interval.low), std::exp(interval.high)}};
}

std::vector<BestOf> BestOfKernels(std::span<const JudgedKernel> kernels) {
  const SpeedUps by_problem = SpeedUpsOf(kernels);
  if (by_problem.empty()) return {};
  size_t most = SIZE_MAX;
  for (const auto& [gemm, speed_ups] : by_problem) most = std::min(most, speed_ups.size());
  std::vector<BestOf> results;
  for (size_t draws = 1; draws <= most; draws *= 2) {
    const std::vector<double> best = ExpectedBestOf(by_problem, draws);
    const Interval interval = Resampled(
        best.size(), [&](std::span<const size_t> drawn) { return SumOf(best, drawn) / double(drawn.size()); });
    results.push_back({draws, Mean(best), interval});
  }
  return results;
}

Result<KernelRatio> CompareKernels(std::span<const JudgedKernel> ours, std::span<const JudgedKernel> theirs) {
  const SpeedUps our_speed_ups = SpeedUpsOf(ours), their_speed_ups = SpeedUpsOf(theirs);
  const auto same_problem = [](const auto& a, const auto& b) { return a.first == b.first; };
  if (!std::ranges::equal(our_speed_ups, their_speed_ups, same_problem))
    return InvalidArgument("they were written for different problems");
  const std::vector<double> our_best = ExpectedBestOf(our_speed_ups, 1);
  const std::vector<double> their_best = ExpectedBestOf(their_speed_ups, 1);
  if (Mean(their_best) == 0) return InvalidArgument("no kernel of theirs is right");
  const auto ratio = [&](std::span<const size_t> drawn) {
    const double base = SumOf(their_best, drawn);
    return base > 0 ? SumOf(our_best, drawn) / base : 0;
  };
  return KernelRatio{Mean(our_best) / Mean(their_best), Resampled(our_best.size(), ratio)};
}

}  // namespace gemmsmith
