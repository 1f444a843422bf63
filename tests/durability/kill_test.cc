// SIGKILL at random moments: every trial that was acknowledged is there exactly once, and another start completes the
// rest.
#include <gtest/gtest.h>
#include <signal.h>

#include <chrono>
#include <cstdlib>
#include <map>
#include <thread>

#include "archive/archive.h"
#include "archive/example_trials.h"
#include "base/files.h"
#include "base/random.h"
#include "base/subprocess.h"
#include "base/text.h"

namespace gemmsmith {
namespace {

using std::chrono::microseconds;
using std::chrono::steady_clock;

constexpr int kTrials = 100'000;  // more than the rounds ever write

int Rounds() {
  const char* rounds = std::getenv("DURABILITY_ROUNDS");
  return int(ParseInteger(rounds == nullptr ? "20" : rounds).value_or(20));
}

class Writer {
 public:
  explicit Writer(const std::filesystem::path& archive, int count)
      : process_(*PipedProcess::Start({DURABILITY_WRITER, archive.string(), std::to_string(count)})) {}

  // Killed `delay` after the first `count` numbers, whatever the machine's speed; every number it had said by then.
  std::vector<int> KillAfter(size_t count, microseconds delay) {
    std::vector<int> numbers = ReadNumbers(count);
    std::this_thread::sleep_for(delay);
    ::kill(process_.pid(), SIGKILL);
    const std::vector<int> rest = ReadNumbers(size_t(-1));
    numbers.insert(numbers.end(), rest.begin(), rest.end());
    return numbers;
  }
  // At most this many; fewer where it ends before.
  std::vector<int> ReadNumbers(size_t most) {
    std::vector<int> numbers;
    std::string line, byte;
    while (numbers.size() < most &&
           process_.ReadExactly(1, byte, steady_clock::now() + std::chrono::seconds(60)).ok()) {
      if (byte != "\n") {
        line += byte;
        continue;
      }
      numbers.push_back(int(ParseInteger(line).value_or(-1)));
      line.clear();
    }
    return numbers;
  }
  int ExitCode() { return process_.KillAndReap(); }
  std::string Stderr() { return process_.StderrTail(); }

 private:
  PipedProcess process_;
};

// How often each number is stored; a trial that differs from the one with its number counts as -1.
std::map<int, int> StoredNumbers(const std::filesystem::path& path, int most) {
  std::map<int, int> times;
  std::map<std::pair<std::string, std::string>, int> number_of;
  for (int number = 0; number < most; ++number) {
    const Trial trial = ExampleTrial(number);
    number_of[{Print(trial.gemm), Print(trial.plan())}] = number;
  }
  const Result<std::unique_ptr<Archive>> archive = Archive::Open(path);
  EXPECT_TRUE(archive.ok()) << archive.status().message();
  if (!archive.ok()) return times;
  const Status read = (*archive)->ForEach({}, [&](const Trial& trial) {
    const auto number = number_of.find({Print(trial.gemm), Print(trial.plan())});
    const bool right = number != number_of.end() && trial == ExampleTrial(number->second);
    ++times[right ? number->second : -1];
  });
  EXPECT_TRUE(read.ok()) << read.message();
  return times;
}

// The first `acknowledged` trials and at most `unseen` more, each once, none left out.
void ExpectEachOnce(const std::map<int, int>& stored, int acknowledged, int unseen, int round) {
  EXPECT_FALSE(stored.contains(-1)) << "round " << round << ": a trial that was never written";
  EXPECT_GE(int(stored.size()), acknowledged) << "round " << round << " lost trials";
  EXPECT_LE(int(stored.size()), acknowledged + unseen) << "round " << round;
  int expected = 0;
  for (const auto& [number, times] : stored) {
    ASSERT_EQ(number, expected++) << "round " << round << " lost the trial before";
    ASSERT_EQ(times, 1) << "round " << round << " doubled trial " << number;
  }
}

TEST(Durability, KilledWritersLoseNothingThatWasAcknowledged) {
  const TemporaryFolder folder = *TemporaryFolder::Create("gemmsmith-durability");
  const std::filesystem::path path = folder.path() / "archive.sqlite";
  Random random(uint64_t(steady_clock::now().time_since_epoch().count()));
  const int rounds = Rounds();
  int next = 0;    // every number below was acknowledged or found stored
  int unseen = 0;  // kills since: each may have hit between a commit and its acknowledgement
  for (int round = 0; round < rounds; ++round) {
    Writer writer(path, kTrials);
    // A fourth of them while they open the archive, the others while they write.
    const bool opening = round % 4 == 0;
    const std::vector<int> numbers =
        writer.KillAfter(opening ? 0 : 1 + random.Below(8), microseconds(random.Below(opening ? 20'000 : 3'000)));
    EXPECT_EQ(writer.ExitCode(), 128 + SIGKILL) << writer.Stderr();
    EXPECT_TRUE(opening || !numbers.empty()) << writer.Stderr();
    if (!numbers.empty()) {
      EXPECT_GE(numbers.front(), next) << "round " << round << " stored a trial again";
      EXPECT_LE(numbers.front(), next + unseen) << "round " << round << " left a trial out";
      for (size_t i = 1; i < numbers.size(); ++i) ASSERT_EQ(numbers[i], numbers[i - 1] + 1);
      next = numbers.back() + 1;
      unseen = 0;
    }
    ++unseen;
    // Looking at everything each time would take longer than the writing.
    if (round % 10 == 9 || round + 1 == rounds) {
      const std::map<int, int> stored = StoredNumbers(path, next + unseen);
      ExpectEachOnce(stored, next, unseen, round);
      next = int(stored.size());
      unseen = 0;
    }
  }

  Writer last(path, next + 10);
  EXPECT_EQ(last.ReadNumbers(size_t(-1)).size(), 10u) << last.Stderr();
  const std::map<int, int> stored = StoredNumbers(path, next + 10);
  EXPECT_EQ(int(stored.size()), next + 10);
  ExpectEachOnce(stored, next + 10, 0, rounds);
}

TEST(Durability, TwoWritersOfOneCampaignStoreEveryTrialOnce) {
  const TemporaryFolder folder = *TemporaryFolder::Create("gemmsmith-durability");
  const std::filesystem::path path = folder.path() / "archive.sqlite";
  Writer first(path, 60), second(path, 60);
  first.ReadNumbers(size_t(-1)), second.ReadNumbers(size_t(-1));
  const std::map<int, int> stored = StoredNumbers(path, 60);
  EXPECT_EQ(stored.size(), 60u) << first.Stderr() << second.Stderr();
  ExpectEachOnce(stored, 60, 0, 0);
}

}  // namespace
}  // namespace gemmsmith
