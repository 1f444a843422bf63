// A campaign over several problems whose process is killed at random moments, again and again: every trial is there in
// the end, none twice.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cmath>
#include <cstdlib>
#include <new>
#include <set>

#include "base/random.h"
#include "base/text.h"
#include "campaign/campaign.h"
#include "campaign/compile_ahead.h"
#include "campaign/fakes.h"

namespace gemmsmith {
namespace {

constexpr size_t kPlans = 60;
constexpr int kHeat = 12, kFinalists = 3;
const std::vector<Gemm>& KilledProblems() {
  static const std::vector<Gemm> problems = {SomeGemm(512), SomeGemm(1024)};
  return problems;
}

struct Counters {
  std::atomic<int> stored = 0;     // trials that the campaign was told are in the archive
  std::atomic<int> evaluated = 0;  // evaluations begun
};

// Outlives the children that count in it.
class SharedCounters {
 public:
  SharedCounters() {
    void* memory = mmap(nullptr, sizeof(Counters), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    GEMMSMITH_CHECK(memory != MAP_FAILED);
    counters_ = new (memory) Counters;
  }
  ~SharedCounters() { munmap(counters_, sizeof(Counters)); }
  Counters* operator->() const { return counters_; }

 private:
  Counters* counters_;
};

[[noreturn]] void RunChild(const std::filesystem::path& archive_path, const Space& space,
                           const SharedCounters& counters) {
  Result<std::unique_ptr<Archive>> archive = Archive::Open(archive_path);
  FakeEvaluator evaluator;
  FakeCompiler compiler;
  evaluator.judge = [&](const EvaluationRequest& request) {
    ++counters->evaluated;
    return MeasuredIn(SomeTimeNs(request.plan()), request.protocol);
  };
  const auto on_event = [&](const CampaignEvent& event) {
    if (event.trial != nullptr && !event.resumed) ++counters->stored;
  };
  const CampaignOptions options{.name = "kill",
                                .problems = KilledProblems(),
                                .heat_candidates = kHeat,
                                .finalists = kFinalists,
                                .finished_after = int(kPlans),
                                .compile_threads = 2,
                                .seed = 1};
  const MakeSearch make_search = [&](const Gemm& gemm) -> Result<ProblemSearch> {
    return SomeSearch(gemm, space, StopAfterEvaluations(1 << 20));
  };
  const std::vector<Evaluator*> judges = {&evaluator};
  const bool done = archive.ok() &&
                    RunCampaign(options, make_search, judges, &compiler, archive->get(), *StopOnAny({}), on_event).ok();
  _exit(done ? 0 : 1);
}

void ExpectEachOnce(const std::vector<Trial>& trials) {
  std::set<std::tuple<Gemm, Plan, Protocol>> seen;
  for (const Trial& trial : trials) {
    EXPECT_TRUE(seen.emplace(trial.gemm, trial.plan(), trial.outcome.protocol).second) << Print(trial.plan());
    EXPECT_EQ(trial.outcome.TimeNs(), SomeTimeNs(trial.plan()));
  }
}

// One round: killed at random moments until a child ends by itself. How often it was killed.
int RunRound(Random& random, const Space& space) {
  const Result<TemporaryFolder> folder = TemporaryFolder::Create("kill_test");
  const std::filesystem::path path = folder->path() / "archive.sqlite";
  const SharedCounters counters;
  for (int kills = 0;; ++kills) {
    const pid_t child = fork();
    if (child == 0) RunChild(path, space, counters);
    // The longer the round lasts, the longer a child may live: every round ends after a few kills, also where a commit
    // takes the disk long.
    usleep(useconds_t(random.Below(uint64_t(4000 * std::pow(1.25, std::min(kills, 40))))));
    kill(child, SIGKILL);
    int status = 0;
    EXPECT_EQ(waitpid(child, &status, 0), child);
    const bool finished = WIFEXITED(status);
    EXPECT_TRUE(!finished || WEXITSTATUS(status) == 0);
    const std::vector<Trial> trials = *(*Archive::Open(path))->Load({});
    EXPECT_GE(int(trials.size()), counters->stored.load()) << "a stored trial was lost";
    ExpectEachOnce(trials);
    if (!finished) continue;
    EXPECT_EQ(trials.size(), KilledProblems().size() * (space.size() + kHeat + kFinalists));
    // A kill costs at most the exchange under way.
    EXPECT_LE(counters->evaluated.load(), int(trials.size()) + kills * int(kListSize));
    return kills;
  }
}

TEST(KillTest, NoStoredTrialIsLostOrDoubledAndResumeCompletesTheRun) {
  // The program of the slow tests asks for more rounds.
  const char* asked = std::getenv("GEMMSMITH_KILL_ROUNDS");
  const int rounds = asked == nullptr ? 20 : int(ParseInteger(asked).value_or(20));
  const Space space(SomePlans(kPlans));
  ASSERT_EQ(space.size(), kPlans);
  Random random(2026);
  int kills = 0;
  for (int round = 0; round < rounds; ++round) kills += RunRound(random, space);
  EXPECT_GT(kills, 0) << "no child was killed before it had finished";
}

}  // namespace
}  // namespace gemmsmith
