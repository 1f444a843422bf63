#include "policy/train/training_log.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "base/files.h"
#include "policy/train/event_file.h"

namespace gemmsmith {
namespace {

namespace fs = std::filesystem;

class TrainingLogTest : public testing::Test {
 protected:
  fs::path Lines() const { return folder_.path() / "log.jsonl"; }
  fs::path Events() const { return folder_.path() / "events.out.tfevents.gemmsmith"; }

  Status Log(int64_t done, int64_t last) const {
    ASSIGN_OR_RETURN(TrainingLog log, TrainingLog::Open(folder_.path(), done));
    for (int64_t step = done + 1; step <= last; ++step)
      RETURN_IF_ERROR(log.Append({{"step", step}, {"loss", 1.0 / double(step)}, {"speedup", nullptr}}));
    return log.Sync();
  }

  std::vector<int64_t> LineSteps() const {
    std::vector<int64_t> steps;
    for (const auto& line : ReadLog(folder_.path())) steps.push_back(line["step"]);
    return steps;
  }
  // Of the whole file: a test failure where its end is damaged.
  std::vector<int64_t> EventSteps() const {
    const std::string file = *ReadFile(Events());
    std::vector<int64_t> steps;
    const std::vector<FoundEvent> events = FindEvents(file);
    for (const FoundEvent& event : events) steps.push_back(event.step);
    EXPECT_EQ(events.empty() ? 0 : events.back().end, file.size());
    return steps;
  }

  const TemporaryFolder folder_ = *TemporaryFolder::Create("training_log");
};

TEST_F(TrainingLogTest, EveryStepIsALineAndAnEventOfItsNumbers) {
  ASSERT_TRUE(Log(0, 3).ok());
  EXPECT_EQ(*ReadFile(Lines()),
            "{\"step\":1,\"loss\":1.0,\"speedup\":null}\n{\"step\":2,\"loss\":0.5,\"speedup\":null}\n"
            "{\"step\":3,\"loss\":0.3333333333333333,\"speedup\":null}\n");
  EXPECT_EQ(EventSteps(), (std::vector<int64_t>{0, 1, 2, 3}));
  const std::string events = *ReadFile(Events());
  const double time = FindEvents(events)[2].unix_seconds;
  EXPECT_NE(events.find(EncodeEvent({2, time, {{"loss", 0.5}}})), std::string::npos);
}

TEST_F(TrainingLogTest, GoingOnDropsWhatCameBehindTheStepAndDoublesNothing) {
  ASSERT_TRUE(Log(0, 5).ok());
  ASSERT_TRUE(Log(3, 6).ok());
  EXPECT_EQ(LineSteps(), (std::vector<int64_t>{1, 2, 3, 4, 5, 6}));
  EXPECT_EQ(EventSteps(), (std::vector<int64_t>{0, 1, 2, 3, 4, 5, 6}));
  ASSERT_TRUE(Log(0, 2).ok());
  EXPECT_EQ(LineSteps(), (std::vector<int64_t>{1, 2}));
  EXPECT_EQ(EventSteps(), (std::vector<int64_t>{0, 1, 2}));
}

// kill -9, or a disk that was full, anywhere.
TEST_F(TrainingLogTest, FilesThatAreCutOffAnywhereGoOnSound) {
  ASSERT_TRUE(Log(0, 4).ok());
  const std::string lines = *ReadFile(Lines()), events = *ReadFile(Events());
  for (size_t size = 0; size < std::max(lines.size(), events.size()); ++size) {
    ASSERT_TRUE(WriteFileAtomic(Lines(), lines.substr(0, size)).ok());
    ASSERT_TRUE(WriteFileAtomic(Events(), events.substr(0, size)).ok());
    ASSERT_TRUE(Log(2, 4).ok());
    for (std::vector<int64_t> steps : {LineSteps(), EventSteps()}) {
      ASSERT_GE(steps.size(), 2u) << size;
      EXPECT_EQ(steps[steps.size() - 2], 3) << size;
      EXPECT_EQ(steps.back(), 4) << size;
      EXPECT_TRUE(std::is_sorted(steps.begin(), steps.end())) << size;
      EXPECT_EQ(std::adjacent_find(steps.begin(), steps.end()), steps.end()) << size;
    }
    EXPECT_EQ(EventSteps()[0], 0) << size;
  }
}

TEST_F(TrainingLogTest, AFullDiskIsSaid) {
  for (const fs::path& path : {Lines(), Events()}) {
    fs::remove(path);
    fs::create_symlink("/dev/full", path);
    const Status logged = Log(0, 1);
    ASSERT_FALSE(logged.ok());
    EXPECT_EQ(logged.message(), "cannot write " + path.string() + ": No space left on device");
    fs::remove(path);
  }
}

TEST_F(TrainingLogTest, TimesAreThoseOfTheFirstAndTheLastStep) {
  EXPECT_FALSE(ReadLoggedTime(folder_.path()));
  ASSERT_TRUE(Log(0, 3).ok());
  const std::vector<FoundEvent> events = FindEvents(*ReadFile(Events()));
  const std::optional<LoggedTime> time = ReadLoggedTime(folder_.path());
  ASSERT_TRUE(time);
  EXPECT_EQ(time->first_unix_seconds, events[1].unix_seconds);
  EXPECT_EQ(time->last_unix_seconds, events[3].unix_seconds);
}

TEST_F(TrainingLogTest, NumbersOfALineAreFoundWhereTheyAre) {
  const nlohmann::ordered_json line = {{"step", 1}, {"loss", 0.5}, {"speedup", nullptr}, {"word", "x"}};
  EXPECT_EQ(NumberIn(line, "loss"), 0.5);
  EXPECT_EQ(NumberIn(line, "step"), 1);
  for (const char* name : {"speedup", "word", "reward"}) EXPECT_FALSE(NumberIn(line, name)) << name;
}

}  // namespace
}  // namespace gemmsmith
