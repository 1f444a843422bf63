#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>
#include <utility>

#include "archive/json_text.h"
#include "archive/segment.h"
#include "base/files.h"
#include "base/interrupt.h"
#include "campaign/live_judge.h"
#include "cli/exit.h"
#include "cli/progress.h"
#include "cli/readers.h"
#include "cli/run.h"
#include "cli/words.h"
#include "policy/train/grpo.h"
#include "policy/train/imitation.h"
#include "policy/train/model_card.h"
#include "policy/train/pretraining.h"
#include "policy/train/trainer_library.h"
#include "policy/train/training_log.h"
#include "workflow/instrument.h"
#include "workflow/recordings.h"
#include "workflow/shipped_data.h"

namespace gemmsmith {

namespace {

// What a stage was, and how far it came.
struct Trained {
  std::string_view stage;
  size_t problems = 0;
  std::string measure;  // "loss", "reward"
  int64_t steps = 0;    // that were asked for
  ModelCard card;
  int64_t step = 0;
  std::optional<double> value;  // of that step

  bool IsDone() const { return step == steps; }
};

Result<std::vector<Trial>> TrialsOf(const TrainCommand& command) {
  std::vector<Trial> trials;
  for (const std::filesystem::path& path : command.sources) {
    ASSIGN_OR_RETURN(std::vector<Trial> more, ReadRecords(path));
    std::move(more.begin(), more.end(), std::back_inserter(trials));
  }
  if (!command.sources.empty()) return trials;
  ASSIGN_OR_RETURN(const std::shared_ptr<const Recording> recording, LoadRecording(std::nullopt));
  return recording->trials();
}

std::string SourcesOf(const TrainCommand& command) {
  std::vector<std::string> names;
  for (const std::filesystem::path& path : command.sources) names.push_back(path.string());
  return names.empty() ? "those that answer where there is no GPU" : Join(names, ", ");
}

// Shows how far it is.
TrainingHooks HooksFor(const Trained& trained, std::shared_ptr<Progress> bar) {
  const auto watch = [bar, measure = trained.measure, is_first = true](int64_t step,
                                                                       std::optional<double> value) mutable {
    if (std::exchange(is_first, false)) bar->StartFrom(step - 1);
    bar->Update(step, value ? fmt::format("{} {:.3f}", measure, *value) : "");
  };
  return {.stop = InterruptArrived, .watch = watch, .note = WriteNote};
}

Result<Trained> PretrainOn(const std::vector<Trial>& trials, const TrainCommand& command) {
  PretrainingOptions options{.seed = command.seed, .ablations = command.ablations};
  options.steps = command.steps.value_or(options.steps);
  options.batch = command.batch.value_or(options.batch);
  options.learning_rate = command.learning_rate.value_or(options.learning_rate);
  const ModelConfig config = DefaultModelConfig();
  ASSIGN_OR_RETURN(const std::unique_ptr<Trainer> trainer, OpenTorchTrainer(config, command.device));
  ASSIGN_OR_RETURN(const PretrainingSet set, PretrainingSet::From(trials, command.held_out));
  WriteNote(fmt::format("pretraining with {} on {}: {} of {}, {} held out", trainer->Version(), command.device,
                        Plural(int64_t(set.trials()), "trial"),
                        Plural(int64_t(set.problems() + set.held_out_problems()), "problem"), set.held_out_problems()));
  Trained trained{.stage = "pretraining", .problems = set.problems(), .measure = "loss", .steps = options.steps};
  trained.card = {.options = Describe(options),
                  .begun_from = "new weights",
                  .trainer = fmt::format("{} on {}", trainer->Version(), command.device)};
  const TrainingHooks hooks = HooksFor(trained, std::make_shared<Progress>("train", options.steps));
  RETURN_IF_ERROR(Pretrain(set, config, options, *trainer, command.output, hooks));
  return trained;
}

// Where the command does not say it, the stage's own.
template <typename Options>
Result<Options> LaterStage(const TrainCommand& command) {
  Options options{.seed = command.seed, .ablations = command.ablations};
  options.steps = command.steps.value_or(options.steps);
  options.problems = command.batch.value_or(options.problems);
  options.learning_rate = command.learning_rate.value_or(options.learning_rate);
  ASSIGN_OR_RETURN(const ExperienceChoice choice, ReadExperienceChoice(command.experience));
  ASSIGN_OR_RETURN(options.experience, ExperienceNamed(choice, command.held_out));
  return options;
}

Result<PolicyModel> BeginningOf(const TrainCommand& command) {
  if (command.from.empty()) return NewModel(DefaultModelConfig(), command.seed);
  return ReadModel(command.from);
}

std::string NameOf(const TrainCommand& command, const PolicyModel& begin) {
  if (command.from.empty()) return "new weights";
  return fmt::format("{} ({})", command.from.string(), Fingerprint(begin));
}

// Who judges what the policy draws, and what he works with.
struct Court {
  Instrument instrument;
  std::unique_ptr<Archive> archive;
  std::unique_ptr<PlanJudge> judge;
};

Result<Court> OpenCourt(const TrainCommand& command, const PolicyModel& reference) {
  Court court;
  if (!command.live) {
    court.judge = MakeRecordedJudge();
    return court;
  }
  RETURN_IF_ERROR(CheckGpuMeasures(command.live_device));
  ASSIGN_OR_RETURN(const int gpu, FindGpu(command.live_device));
  ASSIGN_OR_RETURN(court.archive, OpenArchive(command.archive));
  ASSIGN_OR_RETURN(court.instrument, OpenLiveInstrument(gpu));
  const LiveJudgeOptions options{.campaign = fmt::format("train seed={} from={}", command.seed, Fingerprint(reference)),
                                 .seed = command.seed};
  ASSIGN_OR_RETURN(court.judge, LiveJudge::Open(options, *court.instrument.evaluator, court.instrument.compiler.get(),
                                                *court.archive));
  return court;
}

// Where a GPU judges, those recorded on such a one: their rewards are what its answers are scaled by.
Result<std::vector<RecordedProblem>> ProblemsFor(const TrainCommand& command, const Court& court,
                                                 const std::vector<Trial>& trials) {
  std::vector<RecordedProblem> problems = RecordedProblems(trials, command.held_out, {});
  if (!command.live) return problems;
  const std::string& key = court.instrument.evaluator->device().key;
  std::erase_if(problems, [&](const RecordedProblem& problem) { return problem.device.key != key; });
  if (problems.empty())
    return NotFound(fmt::format("no problem was recorded on such a GPU ({}): gemmsmith records measure makes records",
                                court.instrument.evaluator->device().name));
  return problems;
}

Result<Trained> ImitateFrom(const std::vector<Trial>& trials, const TrainCommand& command) {
  ASSIGN_OR_RETURN(const auto options, LaterStage<ImitationOptions>(command));
  ASSIGN_OR_RETURN(const PolicyModel begin, BeginningOf(command));
  ASSIGN_OR_RETURN(const std::unique_ptr<Trainer> trainer, OpenTorchTrainer(begin.config, command.device));
  std::vector<RecordedProblem> problems, held_out;
  for (RecordedProblem& problem : RecordedProblems(trials, {}, {}))
    (IsHeldOut(problem.gemm.shape, command.held_out) ? held_out : problems).push_back(std::move(problem));
  WriteNote(fmt::format("imitating with {} on {}, from {}: {}, {} held out", trainer->Version(), command.device,
                        NameOf(command, begin), Plural(int64_t(problems.size()), "problem"), held_out.size()));
  Trained trained{.stage = "imitation", .problems = problems.size(), .measure = "loss", .steps = options.steps};
  trained.card = {.by = TrainedBy::kBestPlans,
                  .options = Describe(options),
                  .begun_from = NameOf(command, begin),
                  .trainer = fmt::format("{} on {}", trainer->Version(), command.device)};
  const TrainingHooks hooks = HooksFor(trained, std::make_shared<Progress>("train", options.steps));
  RETURN_IF_ERROR(Imitate(problems, held_out, begin, options, *trainer, command.output, hooks));
  return trained;
}

Result<Trained> LearnFrom(const std::vector<Trial>& trials, const TrainCommand& command) {
  ASSIGN_OR_RETURN(const auto options, LaterStage<GrpoOptions>(command));
  ASSIGN_OR_RETURN(const PolicyModel reference, BeginningOf(command));
  ASSIGN_OR_RETURN(const std::unique_ptr<Trainer> trainer, OpenTorchTrainer(reference.config, command.device));
  ASSIGN_OR_RETURN(const std::unique_ptr<Trainer> held, OpenTorchTrainer(reference.config, command.device));
  ASSIGN_OR_RETURN(const Court court, OpenCourt(command, reference));
  ASSIGN_OR_RETURN(const std::vector<RecordedProblem> problems, ProblemsFor(command, court, trials));
  const std::string begun_from = NameOf(command, reference);
  WriteNote(fmt::format("learning by reward with {} on {}, from {}: {}, {}", trainer->Version(), command.device,
                        begun_from, Plural(int64_t(problems.size()), "problem"), court.judge->name()));
  Trained trained{.stage = "grpo", .problems = problems.size(), .measure = "reward", .steps = options.steps};
  trained.card = {.by = command.live ? TrainedBy::kMeasuredRewards : TrainedBy::kRecordedRewards,
                  .options = fmt::format("{}, {}", Describe(options), court.judge->name()),
                  .begun_from = begun_from,
                  .trainer = fmt::format("{} on {}", trainer->Version(), command.device)};
  const TrainingHooks hooks = HooksFor(trained, std::make_shared<Progress>("train", options.steps));
  RETURN_IF_ERROR(LearnByReward(problems, reference, options, *court.judge, *trainer, *held, command.output, hooks));
  return trained;
}

std::string PathOf(const TrainCommand& command, const char* file) { return (command.output / file).string(); }
constexpr const char* kWeights = "weights.safetensors";
constexpr const char* kCard = "model_card.md";

Status WriteCard(const TrainCommand& command, std::span<const Trial> trials,
                 std::span<const nlohmann::ordered_json> log, ModelCard card) {
  card.data = DataOf(trials, command.held_out);
  card.held_out = command.held_out;
  card.sources = SourcesOf(command);
  ASSIGN_OR_RETURN(const PolicyModel model, ReadModel(command.output / kWeights));
  return WriteFileAtomic(command.output / kCard, Print(card, model, log, ReadLoggedTime(command.output)));
}

std::string PrintText(const TrainCommand& command, const Trained& trained) {
  if (!trained.IsDone())
    return fmt::format("stopped after step {} of {}; the same command goes on\n", trained.step, trained.steps);
  const std::string value = trained.value ? fmt::format("{:.3f}", *trained.value) : "unknown";
  return fmt::format("{} on {} for {} steps; the last {} is {}\n  weights  {}\n  card     {}\n  log      {}\n",
                     trained.stage, Plural(int64_t(trained.problems), "problem"), trained.steps, trained.measure, value,
                     PathOf(command, kWeights), PathOf(command, kCard), PathOf(command, "log.jsonl"));
}

std::string JsonTextOf(const TrainCommand& command, const Trained& trained) {
  return PrintJson({{"command", "train"},
                    {"stage", trained.stage},
                    {"problems", trained.problems},
                    {"steps", trained.step},
                    {trained.measure, trained.value ? Json(*trained.value) : Json()},
                    {"weights", trained.IsDone() ? Json(PathOf(command, kWeights)) : Json()},
                    {"model_card", trained.IsDone() ? Json(PathOf(command, kCard)) : Json()}});
}

}  // namespace

Result<int> Run(const TrainCommand& command) {
  WatchForInterrupts();
  ASSIGN_OR_RETURN(const std::vector<Trial> trials, TrialsOf(command));
  const auto train = command.stage == TrainingStage::kRl        ? LearnFrom
                     : command.stage == TrainingStage::kImitate ? ImitateFrom
                                                                : PretrainOn;
  ASSIGN_OR_RETURN(Trained trained, train(trials, command));
  const std::vector<nlohmann::ordered_json> log = ReadLog(command.output);
  if (!log.empty()) {
    trained.step = log.back()["step"];
    trained.value = NumberIn(log.back(), trained.measure);
  }
  if (trained.IsDone()) RETURN_IF_ERROR(WriteCard(command, trials, log, trained.card));
  RETURN_IF_ERROR(WriteOut(command.json ? JsonTextOf(command, trained) : PrintText(command, trained)));
  return trained.IsDone() ? kExitDone : kExitInterrupted;
}

}  // namespace gemmsmith
