// With torch: a tiny model learns to read the times of the kernels that a prompt shows.
#include <gtest/gtest.h>

#include "base/files.h"
#include "corpus/shown_kernels.h"
#include "corpus/text_shards.h"
#include "corpus/text_training.h"
#include "policy/train/trainer_library.h"

namespace gemmsmith {
namespace {

constexpr int kSlowest = 9;  // microseconds

std::string PromptOfTimes(int first, int second) {
  const ShownKernel shown[] = {{"a\n", OutcomeKind::kMeasured, 1000.0 * first},
                               {"b\n", OutcomeKind::kMeasured, 1000.0 * second}};
  return PromptShowing("", shown);
}
std::string TheFaster(int first, int second) { return first < second ? "a\n" : "b\n"; }
// Pairs of times that training does not see.
bool IsKeptBack(int first, int second) { return first * second == 18 || first * second == 14; }

// Every pair of different times that is kept back, or every other one.
std::vector<TextExample> PairsOf(bool kept_back) {
  std::vector<TextExample> pairs;
  for (int first = 1; first <= kSlowest; ++first)
    for (int second = 1; second <= kSlowest; ++second)
      if (first != second && IsKeptBack(first, second) == kept_back)
        pairs.push_back({PromptOfTimes(first, second), TheFaster(first, second), "", ""});
  return pairs;
}

TEST(ContrastLearning, WithTorchTheFasterOfTwoShownKernelsIsCopied) {
  const TextShard shard{.origin = "a test", .examples = PairsOf(false)};
  PieceCounts pieces;
  for (const TextExample& example : shard.examples) pieces.Add(example.prompt);
  const Tokenizer tokenizer = Tokenizer::Train(pieces, 300);
  const ModelConfig config = {
      .words = tokenizer.words(), .positions = 40, .width = 64, .layers = 1, .heads = 16, .hidden = 16};
  Result<std::unique_ptr<Trainer>> trainer = OpenTorchTrainer(config, "cpu");
  if (!trainer.ok()) GTEST_SKIP() << trainer.status().message();
  const TemporaryFolder folder = *TemporaryFolder::Create("contrast-learning");
  const std::filesystem::path files[] = {folder.path() / "texts.jsonl"};
  ASSERT_TRUE(WriteTextShard(shard, files[0]).ok());
  const TrainingHooks hooks{
      .stop = [] { return false; }, .watch = [](int64_t, std::optional<double>) {}, .note = nullptr};
  const Status learned =
      TrainOnTexts(*EncodedTexts::Read(files, tokenizer, config.positions), NewTextModel(tokenizer, config, 1),
                   {.steps = 120, .batch = 16, .learning_rate = 1.5e-2, .warm_up = 5, .validate_every = 1000},
                   **trainer, folder.path() / "model", hooks);
  ASSERT_TRUE(learned.ok()) << learned.message();
  const std::vector<TextExample> unseen = PairsOf(true);
  TextRequest request{.most_words = 4, .end = Token(tokenizer.end()), .temperature = 0};
  for (const TextExample& pair : unseen) request.prompts.push_back(PromptTokens(tokenizer, pair.prompt));
  const std::vector<SampledText> written = *(*trainer)->Sample(request);
  size_t copied = 0;
  for (size_t i = 0; i < unseen.size(); ++i) copied += KernelOf(written[i], tokenizer) == unseen[i].text ? 1 : 0;
  ASSERT_EQ(unseen.size(), 6u);
  EXPECT_GE(copied, 5u);
}

}  // namespace
}  // namespace gemmsmith
