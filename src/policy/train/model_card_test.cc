#include "policy/train/model_card.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "archive/example_trials.h"

namespace gemmsmith {
namespace {

PolicyModel SmallModel() {
  return NewModel(
      {.words = int(TokenVocabulary().size()), .positions = 8, .width = 8, .layers = 2, .heads = 2, .hidden = 16}, 1);
}

std::vector<nlohmann::ordered_json> SomeLog() {
  std::vector<nlohmann::ordered_json> log;
  for (int step = 1; step <= 30; ++step) log.push_back({{"step", step}, {"loss", 10.0 - 0.25 * step}});
  log[9]["validation_loss"] = 9.5;
  log[29]["validation_loss"] = nullptr;
  return log;
}

bool Has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

TEST(ModelCardTest, DataAreThoseThatWereTrainedOn) {
  std::vector<Trial> trials = ExampleTrials(200);
  const TrainingData all = DataOf(trials, {});
  EXPECT_EQ(all.held_out_problems, 0);
  const TrainingData some = DataOf(trials, {.sizes = {128}});
  EXPECT_GT(some.held_out_problems, 0);
  EXPECT_EQ(some.problems + some.held_out_problems, all.problems);
  int64_t trials_of_devices = 0;
  for (const auto& [name, count] : all.trials_by_device) trials_of_devices += count;
  EXPECT_EQ(trials_of_devices, all.trials);
  EXPECT_EQ(all.families, (std::set<std::string>{"direct"}));
  EXPECT_LE(all.first_unix_ms, all.last_unix_ms);
  for (Trial& trial : trials) trial.setting.device_key = "nobody's";
  EXPECT_EQ(DataOf(trials, {}).trials, 0);
}

TEST(ModelCardTest, SaysWhatTheRunWas) {
  PolicyModel model = SmallModel();
  model.ablations = {.counters = true};
  const ModelCard card{.data = DataOf(ExampleTrials(200), {.sizes = {128}}),
                       .held_out = {.sizes = {128, 4096}},
                       .sources = "some/records",
                       .options = "steps=30",
                       .begun_from = "new weights",
                       .trainer = "torch 9 on cpu"};
  const std::string text = Print(card, model, SomeLog(), LoggedTime{1.7e9, 1.7e9 + 86400});
  for (const std::string& part :
       {"`weights.safetensors`, " + Fingerprint(model), std::string("| records | some/records |"),
        std::string("| held out | `128,4096`: "), std::string("| stage | pretraining |"),
        std::string("| options | steps=30 |"), std::string("| trained without | counters |"),
        std::string("| trained with | torch 9 on cpu |"),
        std::string("| first and last step | 2023-11-14, 2023-11-15 |"), std::string("Of the log, 30 steps."),
        std::string("| loss | 9.75 | 2.5 | 4.875 |"), std::string("| validation_loss | 9.5 | 9.5 | 9.5 |"),
        TokenVocabulary().identity()})
    EXPECT_TRUE(Has(text, part)) << part << "\n" << text;
  EXPECT_FALSE(Has(text, "reward"));
}

TEST(ModelCardTest, WhatIsNotKnownIsNotSaid) {
  const ModelCard card{.by = TrainedBy::kRecordedRewards};
  const std::string text = Print(card, SmallModel(), SomeLog(), std::nullopt);
  EXPECT_FALSE(Has(text, "first and last step"));
  EXPECT_FALSE(Has(text, "| loss |"));
  EXPECT_FALSE(Has(text, "| speedup |"));
  EXPECT_TRUE(Has(text, "| held out | nothing |"));
  EXPECT_TRUE(Has(text, "No shape was held out"));
  EXPECT_TRUE(Has(text, "| trained without | - |"));
}

}  // namespace
}  // namespace gemmsmith
