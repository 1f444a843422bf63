#include "evaluate/isolate/worker_loop.h"

#include <gtest/gtest.h>
#include <poll.h>
#include <unistd.h>

#include <array>

#include "evaluate/isolate/frame.h"

namespace gemmsmith {
namespace {

struct Pipe {
  Pipe() { EXPECT_EQ(::pipe(ends.data()), 0); }
  ~Pipe() { ::close(out()), ::close(in()); }
  int out() const { return ends[0]; }
  int in() const { return ends[1]; }
  std::array<int, 2> ends;
};

// Reads whatever stands in the pipe when it tidies up.
class TidyJudge : public Judge {
 public:
  explicit TidyJudge(int answers) : answers_(answers) {}
  Status Prepare(const ProblemMessage&, const StepListener&) override { return OkStatus(); }
  Result<Judgements> Evaluate(std::span<const CandidateMessage>, const StepListener&) override {
    return InvalidArgument("none came");
  }
  Result<Judgements> RaceBaselines(const StepListener&) override {
    Judgements judgements;
    judgements.worker_is_lost = is_lost;
    return judgements;
  }
  void TidyUp() override {
    for (pollfd sent{answers_, POLLIN, 0}; ::poll(&sent, 1, 0) == 1;) {
      const Result<Frame> answer = ReadFrame(answers_);
      ASSERT_TRUE(answer.ok());
      sent_before.push_back(answer->type);
    }
  }

  bool is_lost = false;
  std::vector<FrameType> sent_before;

 private:
  int answers_;
};

class WorkerLoop : public testing::Test {
 protected:
  int Serve(std::initializer_list<std::pair<FrameType, std::string>> requests) {
    for (const auto& [type, payload] : requests) EXPECT_TRUE(WriteFrame(requests_.in(), type, payload).ok());
    ::close(requests_.ends[1]);
    requests_.ends[1] = -1;
    return ServeRequests(judge_, {}, requests_.out(), answers_.in());
  }

  Pipe requests_, answers_;
  TidyJudge judge_{answers_.out()};
};

TEST_F(WorkerLoop, TidiesUpWhenTheAnswerIsOnItsWay) {
  EXPECT_EQ(Serve({{FrameType::kRace, ""}}), 0);
  EXPECT_EQ(judge_.sent_before, (std::vector{FrameType::kHello, FrameType::kJudged}));
}

TEST_F(WorkerLoop, LeavesWithoutTidyingUpWhereTheContextIsLost) {
  judge_.is_lost = true;
  EXPECT_EQ(Serve({{FrameType::kRace, ""}}), 3);
  EXPECT_TRUE(judge_.sent_before.empty());
}

}  // namespace
}  // namespace gemmsmith
