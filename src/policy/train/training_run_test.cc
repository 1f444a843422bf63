#include "policy/train/training_run.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>
#include <nlohmann/json.hpp>

#include "base/files.h"
#include "policy/train/fake_trainer.h"
#include "policy/train/training_log.h"

namespace gemmsmith {
namespace {

ModelConfig TinyConfig() {
  return {.words = int(TokenVocabulary().size()), .positions = 2, .width = 2, .layers = 1, .heads = 1, .hidden = 2};
}

// Kills its process when so many tensors were asked for: in the midst of a checkpoint.
class MortalTrainer : public FakeTrainer {
 public:
  explicit MortalTrainer(int gets) : gets_left_(gets) {}
  Status Get(const std::string& name, std::span<float> values) override {
    if (gets_left_-- == 0) ::raise(SIGKILL);
    return FakeTrainer::Get(name, values);
  }

 private:
  int gets_left_;
};

constexpr int64_t kSteps = 6;
constexpr int kEndless = 1'000'000;

// The steps that this call took. `dies_in`: the step in which the process is killed.
Result<std::vector<int64_t>> Train(const std::filesystem::path& folder, Trainer& trainer, int64_t dies_in = 0,
                                   int most = kEndless) {
  std::vector<int64_t> taken;
  const TrainingRun run{.folder = folder, .steps = kSteps, .options = "some", .sync_share = 1};
  const TrainingHooks hooks{.stop = [&] { return int(taken.size()) >= most; },
                            .watch = [](int64_t, std::optional<double>) {},
                            .note = [](const std::string&) {}};
  const auto step = [&](int64_t number) -> Result<nlohmann::ordered_json> {
    if (number == dies_in) ::raise(SIGKILL);
    taken.push_back(number);
    ASSIGN_OR_RETURN(const StepResult result, trainer.Step({}, number, {}));
    return nlohmann::ordered_json{{"step", number}, {"loss", result.loss}};
  };
  RETURN_IF_ERROR(RunSteps(run, NewModel(TinyConfig(), 1), trainer, hooks, step));
  return taken;
}

// In a process of its own; whether it was killed.
bool IsKilled(const std::filesystem::path& folder, int64_t dies_in, int gets) {
  const pid_t child = ::fork();
  if (child == 0) {
    MortalTrainer trainer(gets);
    ::_exit(Train(folder, trainer, dies_in).ok() ? 0 : 1);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL;
}

std::string Weights(const std::filesystem::path& folder) { return *ReadFile(folder / "weights.safetensors"); }
std::string Log(const std::filesystem::path& folder) { return *ReadFile(folder / "log.jsonl"); }

class KilledTest : public testing::Test {
 protected:
  KilledTest() {
    FakeTrainer trainer;
    EXPECT_EQ(Train(whole_.path(), trainer)->size(), size_t(kSteps));
  }
  // Goes on where a run was killed; the first step that it takes.
  int64_t GoOn(const std::filesystem::path& folder) {
    FakeTrainer trainer;
    const Result<std::vector<int64_t>> taken = Train(folder, trainer);
    EXPECT_TRUE(taken.ok()) << taken.status().message();
    EXPECT_EQ(Weights(folder), Weights(whole_.path()));
    EXPECT_EQ(Log(folder), Log(whole_.path()));
    return taken->empty() ? kSteps + 1 : taken->front();
  }

  const TemporaryFolder whole_ = *TemporaryFolder::Create("training_run");
};

TEST_F(KilledTest, InAStepThatStepAloneIsTakenAgain) {
  for (int64_t dies_in = 1; dies_in <= kSteps; ++dies_in) {
    const TemporaryFolder folder = *TemporaryFolder::Create("training_run");
    ASSERT_TRUE(IsKilled(folder.path(), dies_in, kEndless));
    EXPECT_EQ(GoOn(folder.path()), dies_in);
  }
}

TEST_F(KilledTest, InACheckpointTheStepBeforeItAloneIsTakenAgain) {
  const int gets_a_checkpoint = 3 * int([] {
                                  PolicyModel model = NewModel(TinyConfig(), 1);
                                  return WeightsOf(model).size();
                                }());
  for (int64_t step = 1; step <= kSteps; ++step) {
    const TemporaryFolder folder = *TemporaryFolder::Create("training_run");
    ASSERT_TRUE(IsKilled(folder.path(), 0, int(step - 1) * gets_a_checkpoint + 5));
    EXPECT_EQ(GoOn(folder.path()), step);
  }
}

TEST_F(KilledTest, AfterADamagedCheckpointTheOneBeforeGoesOn) {
  const TemporaryFolder folder = *TemporaryFolder::Create("training_run");
  ASSERT_TRUE(IsKilled(folder.path(), 5, kEndless));  // step 4 in a, 3 in c
  ASSERT_TRUE(WriteFileAtomic(folder.path() / "checkpoint_a.safetensors", "rubbish").ok());
  EXPECT_EQ(GoOn(folder.path()), 4);
}

TEST_F(KilledTest, ARunThatIsStoppedLosesNothing) {
  for (int most = 0; most <= int(kSteps); ++most) {
    const TemporaryFolder folder = *TemporaryFolder::Create("training_run");
    FakeTrainer trainer;
    ASSERT_EQ(Train(folder.path(), trainer, 0, most)->size(), size_t(most));
    EXPECT_EQ(GoOn(folder.path()), most + 1);
  }
}

TEST(TrainingRunTest, TwoRunsDoNotShareAFolder) {
  const TemporaryFolder folder = *TemporaryFolder::Create("training_run");
  const Result<FileLock> other = FileLock::TryAcquire(folder.path() / ".lock");
  ASSERT_TRUE(other.ok());
  FakeTrainer trainer;
  EXPECT_EQ(Train(folder.path(), trainer).status().code(), StatusCode::kUnavailable);
  EXPECT_FALSE(std::filesystem::exists(folder.path() / "log.jsonl"));
}

TEST(TrainingRunTest, WeightsSayWhatTheyWereTrainedWithout) {
  const TemporaryFolder folder = *TemporaryFolder::Create("training_run");
  PolicyModel begin = NewModel(TinyConfig(), 1);
  begin.ablations = {.counters = true};
  FakeTrainer trainer;
  const TrainingHooks hooks{.stop = [] { return false; }, .watch = nullptr, .note = nullptr};
  const Status trained = RunSteps({.folder = folder.path(), .steps = 1}, begin, trainer, hooks, [](int64_t step) {
    return nlohmann::ordered_json{{"step", step}};
  });
  ASSERT_TRUE(trained.ok()) << trained.message();
  EXPECT_EQ(ReadModel(folder.path() / "weights.safetensors")->ablations, begin.ablations);
}

}  // namespace
}  // namespace gemmsmith
