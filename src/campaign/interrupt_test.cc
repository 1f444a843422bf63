#include "base/interrupt.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdint>
#include <span>

#include "campaign/campaign_fixture.h"

namespace gemmsmith {
namespace {

// In a child: the flag stays for the life of a process.
class CampaignInterruptTest : public CampaignTest, public testing::WithParamInterface<int> {};

TEST_P(CampaignInterruptTest, ASignalStopsBetweenExchangesAndKeepsEverything) {
  const pid_t child = fork();
  if (child == 0) {
    evaluator.judge = [this](const EvaluationRequest& request) {
      if (evaluator.requests.size() == 7) raise(GetParam());
      return MeasuredIn(SomeTimeNs(request.plan()), request.protocol);
    };
    options.finalists = 4;
    size_t judged_together = 0;
    evaluator.on_exchange = [&](std::span<const Candidate> candidates) {
      judged_together = evaluator.requests.size() + candidates.size();
    };
    const Result<CampaignResult> result = RunAll(store.archive.get(), 1 << 20, *StopOnInterrupt());
    const bool right = result.ok() && result->stop_reason == "interrupted" && result->problems[0].best &&
                       !result->problems[0].complete && result->judged == int64_t(judged_together) &&
                       InterruptArrived() && store.Trials().size() == judged_together;
    _exit(right ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
  EXPECT_FALSE(InterruptArrived());
}

INSTANTIATE_TEST_SUITE_P(Signals, CampaignInterruptTest, testing::Values(SIGINT, SIGTERM));

}  // namespace
}  // namespace gemmsmith
