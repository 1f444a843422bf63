#include "policy/train/model_card.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <vector>

#include "base/statistics.h"
#include "base/text.h"
#include "program/family.h"

namespace gemmsmith {

namespace {

constexpr size_t kLastSteps = 20;

std::string HeldOutText(const ModelCard& card) {
  if (card.held_out == HeldOut()) return "nothing";
  return fmt::format("`{}`: {}", Print(card.held_out), Plural(card.data.held_out_problems, "problem"));
}

std::string DataText(const ModelCard& card) {
  std::vector<std::string> devices;
  for (const auto& [name, trials] : card.data.trials_by_device)
    devices.push_back(fmt::format("{} ({})", name, Plural(trials, "trial")));
  std::string text = "## Data\n\n| what | value |\n|---|---|\n";
  text += fmt::format("| records | {} |\n", card.sources);
  text += fmt::format("| trials | {}, each plan's most carefully timed one |\n", CountText(card.data.trials));
  text += fmt::format("| problems trained on | {} |\n", CountText(card.data.problems));
  text += fmt::format("| held out | {} |\n", HeldOutText(card));
  text += fmt::format("| devices | {} |\n", fmt::join(devices, ", "));
  text += fmt::format("| measured | {} to {} |\n", DateText(card.data.first_unix_ms), DateText(card.data.last_unix_ms));
  text += fmt::format("| kinds of problems | {} |\n", fmt::join(card.data.kinds, ", "));
  return text + fmt::format("| families of plans | {} |\n", fmt::join(card.data.families, ", "));
}

std::string_view StageText(TrainedBy by) {
  switch (by) {
    case TrainedBy::kTexts:
      return "pretraining";
    case TrainedBy::kBestPlans:
      return "imitation of the best recorded plans";
    case TrainedBy::kRecordedRewards:
      return "by reward, on recorded measurements (GRPO)";
    case TrainedBy::kMeasuredRewards:
      return "by reward, measured on a GPU (GRPO)";
  }
  return "";
}

// Of the log, those that say how it went.
std::vector<std::string> NumbersOf(TrainedBy by) {
  switch (by) {
    case TrainedBy::kTexts:
      return {"loss", "validation_loss"};
    case TrainedBy::kBestPlans:
      return {"loss", "prior_loss", "validation_loss", "validation_prior_loss"};
    case TrainedBy::kRecordedRewards:
    case TrainedBy::kMeasuredRewards:
      return {"reward", "reward_std", "speedup", "legal", "missed", "compiled", "correct", "kl", "entropy"};
  }
  return {};
}

std::string MethodText(const ModelCard& card, const PolicyModel& model, const std::optional<LoggedTime>& time) {
  std::string text = "## Method\n\n| what | value |\n|---|---|\n";
  text += fmt::format("| stage | {} |\n", StageText(card.by));
  text += fmt::format("| begun from | {} |\n", card.begun_from);
  text += fmt::format("| options | {} |\n", card.options);
  text += fmt::format("| trained without | {} |\n", model.ablations == Ablations() ? "-" : Print(model.ablations));
  text += fmt::format("| trained with | {} |\n", card.trainer);
  if (time)
    text += fmt::format("| first and last step | {}, {} |\n", DateText(int64_t(time->first_unix_seconds * 1000)),
                        DateText(int64_t(time->last_unix_seconds * 1000)));
  return text;
}

// The numbers of one name, in the steps that have it.
std::vector<double> ValuesOf(std::span<const nlohmann::ordered_json> log, const std::string& name) {
  std::vector<double> values;
  for (const nlohmann::ordered_json& line : log)
    if (const std::optional<double> value = NumberIn(line, name)) values.push_back(*value);
  return values;
}

std::string ResultsText(const ModelCard& card, std::span<const nlohmann::ordered_json> log) {
  std::string text = fmt::format(
      "## Results\n\nOf the log, {}.\n\n| number | first | last | mean of the last {} |\n|---|---|---|---|\n",
      Plural(int64_t(log.size()), "step"), std::min(kLastSteps, log.size()));
  for (const std::string& name : NumbersOf(card.by)) {
    const std::vector<double> values = ValuesOf(log, name);
    if (values.empty()) continue;
    const std::span<const double> last = std::span(values).last(std::min(kLastSteps, values.size()));
    text += fmt::format("| {} | {:.4g} | {:.4g} | {:.4g} |\n", name, values.front(), values.back(), Mean(last));
  }
  return text;
}

std::string LimitsText(const ModelCard& card, const PolicyModel& model) {
  std::string text = "## Limits\n\n";
  text += "- How soon it finds good kernels was not measured by this run: its numbers are those above.\n";
  text += "- It knows the devices, the kinds of problems and the families named above, and has met no others.\n";
  text += card.held_out == HeldOut() ? "- No shape was held out: nothing above says how it does on new ones.\n"
                                     : "- No shape that was held out was trained on in this run.\n";
  if (card.by == TrainedBy::kMeasuredRewards)
    text += "- Rewards are one screening each: some milliseconds of timing, of one GPU on one day.\n";
  if (card.by == TrainedBy::kRecordedRewards || card.by == TrainedBy::kBestPlans)
    text += "- What it learned from was read from records: a plan that nobody had measured taught it nothing.\n";
  if (!model.ablations.prior)
    text += "- It is to be asked with the prior, an analytic model whose constants were fitted to an H200.\n";
  text += fmt::format("- It reads and writes the words of `{}` alone.\n", TokenVocabulary().identity());
  if (model.ablations.contrast) text += "- It is shown no earlier plans, whatever a search has measured.\n";
  return text;
}

}  // namespace

TrainingData DataOf(std::span<const Trial> trials, const HeldOut& held_out) {
  TrainingData data;
  for (const auto& [key, plans] : GroupTrials(trials)) {
    const Gemm& gemm = key.second;
    if (IsHeldOut(gemm.shape, held_out)) {
      ++data.held_out_problems;
      continue;
    }
    ++data.problems;
    data.kinds.insert(fmt::format("{} {}", Name(gemm.kind.layout), Name(gemm.kind.type)));
    for (const auto& [plan, of_plan] : plans) {
      const Trial* const trial = of_plan.timed;
      data.first_unix_ms = data.trials == 0 ? trial->unix_ms : std::min(data.first_unix_ms, trial->unix_ms);
      data.last_unix_ms = std::max(data.last_unix_ms, trial->unix_ms);
      ++data.trials;
      ++data.trials_by_device[trial->setting.device_name];
      data.families.emplace(GetFamily(plan.family).name);
    }
  }
  return data;
}

std::string Print(const ModelCard& card, const PolicyModel& model, std::span<const nlohmann::ordered_json> log,
                  const std::optional<LoggedTime>& time) {
  const ModelConfig& config = model.config;
  return fmt::format(
      "# A policy of gemmsmith\n\n`weights.safetensors`, {}: {} parameters, width {}, {} layers of {} heads, {} hidden "
      "numbers, {} positions. It proposes plans of matrix-multiply kernels (`gemmsmith optimize --weights FILE`). "
      "`gemmsmith train` wrote this page.\n\n{}\n{}\n{}\n{}",
      Fingerprint(model), CountText(int64_t(model.ParameterCount())), config.width, config.layers, config.heads,
      config.hidden, config.positions, DataText(card), MethodText(card, model, time), ResultsText(card, log),
      LimitsText(card, model));
}

}  // namespace gemmsmith
