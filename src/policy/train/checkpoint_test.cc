#include "policy/train/checkpoint.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/files.h"
#include "base/seconds.h"
#include "policy/train/fake_trainer.h"

namespace gemmsmith {
namespace {

namespace fs = std::filesystem;

class CheckpointTest : public testing::Test {
 protected:
  static ModelConfig Config() {
    return {.words = int(TokenVocabulary().size()), .positions = 2, .width = 2, .layers = 1, .heads = 1, .hidden = 2};
  }
  // What a trainer holds behind a step.
  static PolicyModel StateOf(int64_t step) { return NewModel(Config(), uint64_t(step)); }

  Checkpoints Opened(const std::string& options = "some") const { return {folder_.path(), Config(), options}; }
  fs::path Path(const char* letter) const {
    return folder_.path() / ("checkpoint_" + std::string(letter) + ".safetensors");
  }

  void SetUp() override { KeepUpTo(4); }  // steps 4 in a, 2 in b, 3 in c

  void KeepUpTo(int64_t last) const {
    Checkpoints checkpoints = Opened();
    for (int64_t step = 1; step <= last; ++step) {
      FakeTrainer trainer;
      ASSERT_TRUE(PutModel(StateOf(step), trainer).ok());
      ASSERT_TRUE(checkpoints.Keep(trainer, step).ok());
    }
  }

  // The step that was gone on from, checked against the weights that came with it; 0: there was none, -1: refused.
  int64_t Restored() {
    FakeTrainer trainer;
    Checkpoints checkpoints = Opened();
    notes_.clear();
    const auto step = checkpoints.Restore(trainer, [&](const std::string& note) { notes_ += note + "\n"; });
    why_not_ = step.ok() ? "" : step.status().message();
    if (!step.ok()) return -1;
    if (*step) {
      EXPECT_EQ(EncodeModel(*GetModel(Config(), trainer)), EncodeModel(StateOf(**step)));
    }
    return step->value_or(0);
  }

  const TemporaryFolder folder_ = *TemporaryFolder::Create("checkpoint");
  std::string notes_, why_not_;
};

TEST_F(CheckpointTest, TheLatestComesBack) {
  EXPECT_EQ(Restored(), 4);
  EXPECT_EQ(notes_, "going on behind step 4, from " + Path("a").string() + "\n");
  fs::remove(Path("a"));
  EXPECT_EQ(Restored(), 3);
  EXPECT_EQ(notes_, "going on behind step 3, from " + Path("c").string() + "\n");
  fs::remove(Path("c"));
  EXPECT_EQ(Restored(), 2);
  fs::remove(Path("b"));
  EXPECT_EQ(Restored(), 0);
  EXPECT_EQ(notes_, "");
}

TEST_F(CheckpointTest, WhatWasSyncedIsNotWrittenOverBeforeSomethingLaterIs) {
  for (const char* letter : {"a", "b", "c"}) fs::remove(Path(letter));
  FakeTrainer trainer;
  Checkpoints checkpoints = Opened();
  std::string synced;
  for (int64_t step = 1; step <= 20; ++step) {
    ASSERT_TRUE(PutModel(StateOf(step), trainer).ok());
    ASSERT_TRUE(checkpoints.Keep(trainer, step).ok());
    if (step % 7 == 3) {
      ASSERT_TRUE(checkpoints.Sync().ok());
      EXPECT_EQ(Restored(), step);
      synced = notes_.substr(notes_.find("from ") + 5);
      synced.pop_back();
      fs::copy_file(synced, folder_.path() / "as_it_was", fs::copy_options::overwrite_existing);
    }
    if (!synced.empty()) {
      EXPECT_EQ(*ReadFile(synced), *ReadFile(folder_.path() / "as_it_was")) << step;
    }
    EXPECT_EQ(Restored(), step);
  }
}

TEST_F(CheckpointTest, WhatARunGoesOnFromStaysUntilSomethingLaterIsSynced) {
  FakeTrainer trainer;
  Checkpoints checkpoints = Opened();
  ASSERT_EQ(**checkpoints.Restore(trainer, [](const std::string&) {}), 4);
  const std::string restored = *ReadFile(Path("a"));
  for (int64_t step = 5; step <= 10; ++step) {
    ASSERT_TRUE(PutModel(StateOf(step), trainer).ok());
    ASSERT_TRUE(checkpoints.Keep(trainer, step).ok());
    EXPECT_EQ(*ReadFile(Path("a")), restored);
    EXPECT_EQ(Restored(), step);
  }
}

// Where the machine went down the disk may have got a state and not its lines of the log.
TEST_F(CheckpointTest, AStateBehindTheLogCountsOnlyWhereThereIsNoOther) {
  const auto restored = [&](int64_t logged) {
    FakeTrainer trainer;
    Checkpoints checkpoints = Opened();
    return **checkpoints.Restore(
        trainer, [](const std::string&) {}, logged);
  };
  EXPECT_EQ(restored(4), 4);
  EXPECT_EQ(restored(3), 3);
  EXPECT_EQ(restored(2), 2);
  EXPECT_EQ(restored(1), 4);
}

// As it is where a process was killed while it wrote.
TEST_F(CheckpointTest, AStateThatIsNotWholeIsNoStateAndNotDamagedEither) {
  std::string bytes = *ReadFile(Path("a"));
  bytes.replace(bytes.find("\"sum\":\"") + 7, 32, std::string(32, '0'));
  ASSERT_TRUE(WriteFileAtomic(Path("a"), bytes).ok());
  EXPECT_EQ(Restored(), 3);
  EXPECT_EQ(notes_, "going on behind step 3, from " + Path("c").string() + "\n");
  fs::remove(Path("b")), fs::remove(Path("c"));
  EXPECT_EQ(Restored(), 0);
}

TEST_F(CheckpointTest, WhereTheLatestIsCutOffTheOneBeforeIsUsedAndBothAreNamed) {
  const std::string bytes = *ReadFile(Path("a"));
  for (size_t size = 0; size < bytes.size(); size += 1 + bytes.size() / 100) {
    ASSERT_TRUE(WriteFileAtomic(Path("a"), bytes.substr(0, size)).ok());
    ASSERT_EQ(Restored(), 3) << size;
    EXPECT_TRUE(notes_.starts_with(Path("a").string() + " is damaged (")) << notes_;
    EXPECT_TRUE(notes_.ends_with("): going on behind step 3, from " + Path("c").string() + "\n")) << notes_;
    EXPECT_EQ(std::count(notes_.begin(), notes_.end(), '\n'), 1);
  }
}

TEST_F(CheckpointTest, OneBitIsEnoughToBeDamaged) {
  const std::string bytes = *ReadFile(Path("a"));
  const size_t header = 8 + 3000;
  ASSERT_GT(bytes.size(), 3 * header);
  for (size_t at = 0; at < bytes.size(); at += at < header ? 7 : 997) {
    std::string damaged = bytes;
    damaged[at] = char(damaged[at] ^ 1);
    ASSERT_TRUE(WriteFileAtomic(Path("a"), damaged).ok());
    ASSERT_EQ(Restored(), 3) << at;
  }
}

TEST_F(CheckpointTest, WhatIsKeptNextTakesTheDamagedOnesPlace) {
  ASSERT_TRUE(WriteFileAtomic(Path("a"), "rubbish").ok());
  const std::string sound = *ReadFile(Path("c"));
  FakeTrainer trainer;
  Checkpoints checkpoints = Opened();
  ASSERT_EQ(**checkpoints.Restore(trainer, [](const std::string&) {}), 3);
  ASSERT_TRUE(PutModel(StateOf(7), trainer).ok());
  ASSERT_TRUE(checkpoints.Keep(trainer, 7).ok());
  EXPECT_EQ(*ReadFile(Path("c")), sound);
  EXPECT_EQ(Restored(), 7);
  EXPECT_EQ(notes_, "going on behind step 7, from " + Path("a").string() + "\n");
}

TEST_F(CheckpointTest, WhereNoneIsSoundItIsSaidWhatToDo) {
  ASSERT_TRUE(WriteFileAtomic(Path("a"), "x").ok());
  ASSERT_TRUE(WriteFileAtomic(Path("b"), "").ok());
  fs::remove(Path("c"));
  EXPECT_EQ(Restored(), -1);
  EXPECT_EQ(why_not_, Path("a").string() + " is damaged (no safetensors file: 1 bytes, too few for the length of a " +
                          "header), " + Path("b").string() + " is damaged (no safetensors file: 0 bytes, too few for " +
                          "the length of a header); no sound checkpoint is left: remove them to begin anew");
  fs::remove(Path("b"));
  EXPECT_EQ(Restored(), -1);
  EXPECT_TRUE(why_not_.ends_with("no sound checkpoint is left: remove it to begin anew")) << why_not_;
}

TEST_F(CheckpointTest, WhatAKilledRunHadHalfWrittenIsRemovedAndNothingElse) {
  for (const char* name :
       {".checkpoint_a.safetensors.17.3.0", ".checkpoint_b.safetensors.9.9.1", ".other", "notes.txt"})
    ASSERT_TRUE(WriteFileAtomic(folder_.path() / name, "half").ok());
  EXPECT_EQ(Restored(), 4);
  EXPECT_EQ(std::distance(fs::directory_iterator(folder_.path()), fs::directory_iterator()), 5);
  EXPECT_TRUE(fs::exists(folder_.path() / ".other") && fs::exists(folder_.path() / "notes.txt"));
}

TEST_F(CheckpointTest, ThoseOfOtherOptionsAreRefused) {
  FakeTrainer trainer;
  const auto other = Opened("other").Restore(trainer, [](const std::string&) {});
  ASSERT_FALSE(other.ok());
  EXPECT_EQ(other.status().code(), StatusCode::kInvalidArgument);
  EXPECT_TRUE(other.status().message().starts_with(Path("a").string() + " was made with other options or words (some"))
      << other.status().message();
}

TEST_F(CheckpointTest, AFailedWriteLeavesWhatWasThere) {
  fs::remove(Path("b"));
  fs::create_directory(Path("b"));  // cannot be written over
  FakeTrainer trainer;
  ASSERT_TRUE(PutModel(StateOf(5), trainer).ok());
  Checkpoints checkpoints = Opened();
  FakeTrainer another;
  // A folder in a file's place is no sound checkpoint either.
  ASSERT_EQ(**checkpoints.Restore(another, [](const std::string&) {}), 4);
  EXPECT_FALSE(checkpoints.Keep(trainer, 5).ok());
  EXPECT_EQ(Restored(), 4);
}

// Not a bound but numbers to read: docs/policy_training.md holds them.
TEST(CheckpointPaceTest, SaysWhatACheckpointOfTheUsualSizeTakes) {
  const TemporaryFolder folder = *TemporaryFolder::Create("checkpoint");
  FakeTrainer trainer;
  ASSERT_TRUE(PutModel(NewModel(DefaultModelConfig(), 1), trainer).ok());
  Checkpoints checkpoints(folder.path(), DefaultModelConfig(), "some");
  for (int64_t step = 1; step <= 6; ++step) {
    const auto begin = std::chrono::steady_clock::now();
    ASSERT_TRUE(checkpoints.Keep(trainer, step).ok());
    const double kept = SecondsSince(begin);
    ASSERT_TRUE(checkpoints.Sync().ok());
    fmt::print("a checkpoint of {} bytes: {:.0f} ms to keep it{}, {:.0f} ms to sync it\n",
               std::filesystem::file_size(folder.path() / "checkpoint_a.safetensors"), 1e3 * kept,
               step <= 3 ? " in a new file" : "", 1e3 * (SecondsSince(begin) - kept));
  }
}

TEST(CheckpointPaceTest, SyncingKeepsWithinItsShareOfTheTime) {
  EXPECT_TRUE(SyncIsDue(0, 0, 0.1));  // the first one: nobody knows what it takes
  EXPECT_FALSE(SyncIsDue(0.8, 0.1, 0.1));
  EXPECT_TRUE(SyncIsDue(0.95, 0.1, 0.1));
  EXPECT_TRUE(SyncIsDue(0, 100, 1));  // each step
}

}  // namespace
}  // namespace gemmsmith
