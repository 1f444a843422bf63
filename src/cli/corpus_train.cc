#include <fmt/format.h>

#include <memory>

#include "base/interrupt.h"
#include "cli/run.h"
#include "cli/training_bar.h"
#include "cli/words.h"
#include "corpus/text_training.h"
#include "policy/train/trainer_library.h"

namespace gemmsmith {

namespace {

TextTrainingOptions OptionsOf(const CorpusTrainCommand& command) {
  TextTrainingOptions options{.seed = command.seed};
  options.steps = command.steps.value_or(options.steps);
  options.batch = command.batch.value_or(options.batch);
  options.learning_rate = command.learning_rate.value_or(options.learning_rate);
  return options;
}

Result<PolicyModel> BeginOf(const CorpusTrainCommand& command, const Tokenizer& tokenizer) {
  if (!command.from.empty()) return ReadModel(command.from, Fingerprint(tokenizer));
  return NewTextModel(tokenizer, TextModelConfig(tokenizer), command.seed);
}

}  // namespace

Result<int> Run(const CorpusTrainCommand& command) {
  WatchForInterrupts();
  const TextTrainingOptions options = OptionsOf(command);
  ASSIGN_OR_RETURN(const Tokenizer tokenizer, ReadTokenizer(command.tokenizer));
  ASSIGN_OR_RETURN(const PolicyModel begin, BeginOf(command, tokenizer));
  ASSIGN_OR_RETURN(const EncodedTexts texts, EncodedTexts::Read(command.texts, tokenizer, begin.config.positions));
  ASSIGN_OR_RETURN(
      const std::unique_ptr<Trainer> trainer,
      OpenTorchTrainer(begin.config, command.device, command.bf16 ? ProductType::kBf16 : ProductType::kF32));
  WriteNote(fmt::format("training with {} on {}: {}, {} held out, {} too long", trainer->Version(), command.device,
                        Plural(int64_t(texts.train().size()), "text"), texts.held_out().size(), texts.too_long()));
  TrainingBar bar("train", "loss", options.steps);
  RETURN_IF_ERROR(TrainOnTexts(texts, begin, options, *trainer, command.output, bar.Hooks()));
  return bar.Finish(command.output);
}

}  // namespace gemmsmith
