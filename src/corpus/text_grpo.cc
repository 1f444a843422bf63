#include "corpus/text_grpo.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <nlohmann/json.hpp>
#include <numeric>

#include "base/hash.h"
#include "base/seconds.h"
#include "base/statistics.h"
#include "corpus/earlier_kernels.h"
#include "corpus/text_training.h"
#include "policy/rewards.h"
#include "policy/train/learning_rate.h"

namespace gemmsmith {

namespace {

using Json = nlohmann::ordered_json;

struct Written {
  SampledText text;
  JudgedText judged;
};

// The kernels written for one problem.
struct WrittenGroup {
  const TextProblem* problem = nullptr;
  std::vector<Token> prompt;
  bool shows_kernels = false;
  std::vector<Written> kernels;
};

std::vector<WrittenGroup> AskedGroups(const std::vector<TextProblem>& problems, int count, const Tokenizer& tokenizer,
                                      Random& random) {
  std::vector<WrittenGroup> groups;
  for (int i = 0; i < count; ++i) {
    const TextProblem& problem = problems[random.Below(problems.size())];
    groups.push_back({.problem = &problem, .prompt = PromptTokens(tokenizer, problem.prompt)});
  }
  return groups;
}

// Adds earlier kernels to each prompt, if `most_words` of `positions` are left behind them.
void ShowKernels(std::vector<WrittenGroup>& groups, const EarlierKernels& earlier, const TextGrpoOptions& options,
                 int positions, const Tokenizer& tokenizer, Random random) {
  for (WrittenGroup& group : groups) {
    const std::vector<ShownKernel> shown = earlier.Choose(Print(group.problem->gemm), size_t(options.contrast), random);
    if (shown.empty()) continue;
    std::vector<Token> prompt = PromptTokens(tokenizer, PromptShowing(group.problem->prompt, shown));
    if (prompt.size() + size_t(options.most_words) > size_t(positions)) continue;
    group.prompt = std::move(prompt);
    group.shows_kernels = true;
  }
}

std::vector<EarlierKernel> JudgedKernels(const std::vector<WrittenGroup>& groups, const Tokenizer& tokenizer) {
  std::vector<EarlierKernel> kernels;
  for (const WrittenGroup& group : groups)
    for (const Written& one : group.kernels)
      if (one.text.is_finished)
        kernels.push_back({Print(group.problem->gemm), KernelOf(one.text, tokenizer), one.judged});
  return kernels;
}

Status WriteKernels(std::vector<WrittenGroup>& groups, const TextGrpoOptions& options, const Tokenizer& tokenizer,
                    uint64_t seed, Trainer& trainer) {
  TextRequest request{.most_words = options.most_words,
                      .end = Token(tokenizer.end()),
                      .temperature = options.temperature,
                      .seed = seed};
  for (const WrittenGroup& group : groups)
    for (int i = 0; i < options.group; ++i) request.prompts.push_back(group.prompt);
  ASSIGN_OR_RETURN(std::vector<SampledText> texts, trainer.Sample(request));
  for (size_t i = 0; i < texts.size(); ++i)
    groups[i / size_t(options.group)].kernels.push_back({.text = std::move(texts[i])});
  return OkStatus();
}

// Only texts that came to an end are judged.
Status JudgeAll(std::vector<WrittenGroup>& groups, const Tokenizer& tokenizer, TextJudge& judge) {
  std::vector<WrittenTexts> asked;
  std::vector<Written*> finished;
  for (WrittenGroup& group : groups) {
    WrittenTexts& texts = asked.emplace_back(WrittenTexts{.gemm = group.problem->gemm});
    for (Written& one : group.kernels) {
      one.judged.reward = RewardOptions().grades[size_t(OutcomeKind::kIllegal)];
      if (!one.text.is_finished) continue;
      texts.sources.push_back(KernelOf(one.text, tokenizer));
      finished.push_back(&one);
    }
  }
  ASSIGN_OR_RETURN(const std::vector<std::vector<JudgedText>> judged, judge.Judge(asked));
  size_t next = 0;
  for (const std::vector<JudgedText>& group : judged)
    for (const JudgedText& one : group) finished[next++]->judged = one;
  return OkStatus();
}

std::vector<double> RewardsOf(const WrittenGroup& group) {
  std::vector<double> rewards;
  for (const Written& one : group.kernels) rewards.push_back(one.judged.reward);
  return rewards;
}

struct Lesson {
  const std::vector<Token>* prompt;
  const SampledText* text;
  double advantage;
  size_t length() const { return prompt->size() + text->words.size(); }
};

// By length, so that a trainer that parts the rows reads little padding. A group whose rewards are equal teaches
// nothing.
std::vector<Lesson> LessonsOf(const std::vector<WrittenGroup>& groups) {
  std::vector<Lesson> lessons;
  for (const WrittenGroup& group : groups) {
    const std::vector<double> rewards = RewardsOf(group), advantages = Advantages(rewards);
    if (std::ranges::all_of(rewards, [&](double reward) { return reward == rewards.front(); })) continue;
    for (size_t i = 0; i < group.kernels.size(); ++i)
      lessons.push_back({&group.prompt, &group.kernels[i].text, advantages[i]});
  }
  std::ranges::stable_sort(lessons, std::less(), &Lesson::length);
  return lessons;
}

// Every word is a choice. The words of a kernel share its weight.
PolicyBatch BatchFrom(const std::vector<WrittenGroup>& groups, const TextGrpoOptions& options) {
  PolicyBatch batch;
  std::vector<WeightedTokens> rows;
  const double weight = 1.0 / double(groups.size() * size_t(options.group));
  for (const Lesson& lesson : LessonsOf(groups)) {
    const SampledText& text = *lesson.text;
    std::vector<Token> row = *lesson.prompt;
    for (size_t word = 0; word < text.words.size(); ++word) {
      batch.rows.push_back(int32_t(rows.size()));
      batch.positions.push_back(int32_t(row.size()));
      batch.weights.push_back(float(weight / double(text.words.size())));
      batch.advantages.push_back(float(lesson.advantage));
      row.push_back(text.words[word]);
    }
    batch.old_logs.insert(batch.old_logs.end(), text.logs.begin(), text.logs.end());
    rows.push_back({std::move(row), {}});
    rows.back().weights.assign(rows.back().tokens.size(), 0.0f);
  }
  if (!rows.empty()) batch.texts = BatchOf(rows);
  batch.AllowAll();
  return batch;
}

Result<PolicyResult> Learn(const std::vector<WrittenGroup>& groups, int64_t step, const TextGrpoOptions& options,
                           const StepOptions& adam, Trainer& trainer, Trainer& reference_trainer) {
  PolicyResult result;
  PolicyBatch batch = BatchFrom(groups, options);
  if (batch.rows.empty()) return result;
  ASSIGN_OR_RETURN(batch.reference_logs, reference_trainer.LogProbabilities(batch));
  for (int epoch = 0; epoch < options.epochs; ++epoch) {
    ASSIGN_OR_RETURN(result, trainer.PolicyStep(batch, (step - 1) * options.epochs + epoch + 1, adam, options.policy));
  }
  return result;
}

// Eight digits that tell these problems and their prompts apart from others.
std::string FingerprintOfProblems(const std::vector<TextProblem>& problems) {
  std::string words;
  for (const TextProblem& problem : problems) words += fmt::format("{}\n{}\n", Print(problem.gemm), problem.prompt);
  return HashBytes(words).Hex().substr(0, 8);
}

struct StepSeconds {
  double writing = 0, judging = 0, learning = 0;
};

// Runs the work and writes down how long it took.
template <class Work>
auto Timed(double& seconds, const Work& work) {
  const std::chrono::steady_clock::time_point begin = std::chrono::steady_clock::now();
  auto result = work();
  seconds = SecondsSince(begin);
  return result;
}

// Statistics of the groups' rewards, under the field's names.
Json LogOf(int64_t step, const std::vector<WrittenGroup>& groups, const PolicyResult& result, double learning_rate,
           const StepSeconds& seconds) {
  std::vector<double> rewards, deviations, lengths, finished, compiled, correct, cheated, speed_ups, shown;
  for (const WrittenGroup& group : groups) {
    shown.push_back(group.shows_kernels);
    deviations.push_back(StandardDeviation(RewardsOf(group)));
    for (const Written& one : group.kernels) {
      const OutcomeKind kind = one.judged.kind;
      rewards.push_back(one.judged.reward);
      lengths.push_back(double(one.text.words.size()));
      finished.push_back(one.text.is_finished);
      compiled.push_back(kind > OutcomeKind::kResourceOver);
      correct.push_back(kind == OutcomeKind::kMeasured || kind == OutcomeKind::kVerified);
      cheated.push_back(kind == OutcomeKind::kCheated);
      if (one.judged.speed_up) speed_ups.push_back(*one.judged.speed_up);
    }
  }
  return {{"step", step},
          {"reward", Mean(rewards)},
          {"reward_std", Mean(deviations)},
          {"kl", result.kl},
          {"entropy", result.entropy},
          {"clip_frac", result.clip_fraction},
          {"completions/mean_length", Mean(lengths)},
          {"finished", Mean(finished)},
          {"compiled", Mean(compiled)},
          {"correct", Mean(correct)},
          {"cheated", Mean(cheated)},
          {"loss", result.loss},
          {"grad_norm", result.gradient_norm},
          {"learning_rate", learning_rate},
          {"speedup", speed_ups.empty() ? Json() : Json(Mean(speed_ups))},
          {"shown", Mean(shown)},
          {"tokens", std::accumulate(lengths.begin(), lengths.end(), 0.0)},
          {"seconds", seconds.writing + seconds.judging + seconds.learning},
          {"seconds/writing", seconds.writing},
          {"seconds/judging", seconds.judging},
          {"seconds/learning", seconds.learning}};
}

}  // namespace

std::string Describe(const TextGrpoOptions& options) {
  return fmt::format(
      "text grpo steps={} problems={} group={} epochs={} learning_rate={} warm_up={} words={} contrast={} "
      "temperature={} seed={} clip={} kl={} entropy={}",
      options.steps, options.problems, options.group, options.epochs, options.learning_rate, options.warm_up,
      options.most_words, options.contrast, options.temperature, options.seed, options.policy.clip,
      options.policy.kl_weight, options.policy.entropy_weight);
}

Status LearnToWrite(const std::vector<TextProblem>& problems, const PolicyModel& reference, const Tokenizer& tokenizer,
                    const TextGrpoOptions& options, TextJudge& judge, Trainer& trainer, Trainer& reference_trainer,
                    const std::filesystem::path& folder, const TrainingHooks& hooks) {
  if (problems.empty()) return InvalidArgument("no problem to write kernels for: all of them are held out");
  RETURN_IF_ERROR(PutModel(reference, reference_trainer));
  const TrainingRun run = {
      .folder = folder,
      .steps = options.steps,
      .options = fmt::format("{} from={} problems={}:{} {}", Describe(options), Fingerprint(reference), problems.size(),
                             FingerprintOfProblems(problems), judge.name())};
  EarlierKernels earlier(folder / "kernels");
  const auto take_step = [&](int64_t step) -> Result<Json> {
    Random random = Random(options.seed).Fork(fmt::format("texts of step {}", step));
    std::vector<WrittenGroup> groups = AskedGroups(problems, options.problems, tokenizer, random);
    if (options.contrast > 0) {
      RETURN_IF_ERROR(earlier.ReadBefore(step));
      ShowKernels(groups, earlier, options, reference.config.positions, tokenizer,
                  Random(options.seed).Fork(fmt::format("shown kernels of step {}", step)));
    }
    StepSeconds seconds;
    RETURN_IF_ERROR(
        Timed(seconds.writing, [&] { return WriteKernels(groups, options, tokenizer, random.Next(), trainer); }));
    RETURN_IF_ERROR(Timed(seconds.judging, [&] { return JudgeAll(groups, tokenizer, judge); }));
    RETURN_IF_ERROR(earlier.Keep(step, JudgedKernels(groups, tokenizer)));
    StepOptions adam = options.adam;
    adam.learning_rate = WarmedUp(options.learning_rate, options.warm_up, options.steps, step);
    ASSIGN_OR_RETURN(const PolicyResult result, Timed(seconds.learning, [&] {
                       return Learn(groups, step, options, adam, trainer, reference_trainer);
                     }));
    const Json line = LogOf(step, groups, result, adam.learning_rate, seconds);
    hooks.watch(step, line["reward"].get<double>());
    return line;
  };
  return RunSteps(run, reference, trainer, hooks, take_step);
}

}  // namespace gemmsmith
