// The page beside the weights: what they were trained on, how, what came of it, and what nobody knows of them. Holds
// nothing but facts of the run.
#pragma once

#include <map>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <set>
#include <span>
#include <string>

#include "policy/model.h"
#include "policy/train/pretraining_set.h"
#include "policy/train/training_log.h"

namespace gemmsmith {

// Counts plans on known devices; a plan with several trials counts once, by the most carefully timed. All fields but
// `held_out_problems` leave out held-out problems.
struct TrainingData {
  int64_t trials = 0, problems = 0, held_out_problems = 0;
  std::map<std::string, int64_t> trials_by_device;  // by its name
  std::set<std::string> families, kinds;            // "wgmma"; "tn f16"
  int64_t first_unix_ms = 0, last_unix_ms = 0;
};
TrainingData DataOf(std::span<const Trial> trials, const HeldOut& held_out);

enum class TrainedBy : uint8_t { kTexts, kBestPlans, kRecordedRewards, kMeasuredRewards };

struct ModelCard {
  TrainingData data;
  HeldOut held_out;
  std::string sources;  // where the records were read
  TrainedBy by = TrainedBy::kTexts;
  std::string options;     // as Describe() has them
  std::string begun_from;  // "new weights"
  std::string trainer;     // "torch 2.11.0 on cpu"
};
// In Markdown; of the model as it was written.
std::string Print(const ModelCard& card, const PolicyModel& model, std::span<const nlohmann::ordered_json> log,
                  const std::optional<LoggedTime>& time);

}  // namespace gemmsmith
