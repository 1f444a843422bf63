#include "agents/judge_queue.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "agents/fake_judge.h"
#include "base/files.h"

namespace gemmsmith {
namespace {

constexpr std::chrono::minutes kPatience{5};

class JudgeQueueTest : public testing::Test {
 protected:
  std::unique_ptr<JudgeQueue> Open(const JudgeQueueOptions& options = {}) {
    return *JudgeQueue::Open(judge_, *journal_, options);
  }
  static std::vector<JudgeRequest> Sources(std::initializer_list<const char*> texts) {
    std::vector<JudgeRequest> requests;
    for (const char* text : texts) requests.push_back(SourceNamed(text));
    return requests;
  }
  static JudgeAnswer Answer(JudgeQueue& queue, const std::string& id) { return **queue.Wait(id, kPatience); }

  TemporaryFolder folder_ = *TemporaryFolder::Create("gemmsmith-judge-queue-test");
  const std::filesystem::path path_ = folder_.path() / "judge.sqlite";
  std::unique_ptr<JudgeJournal> journal_ = *JudgeJournal::Open(path_);
  FakeJudge judge_;
};

TEST_F(JudgeQueueTest, EveryStateIsAnswered) {
  const auto queue = Open();
  const Submission submission = *queue->Submit(Sources({"a", "ends", "untimed", "fails"}));
  ASSERT_EQ(submission.ids.size(), 4u);
  EXPECT_EQ(Answer(*queue, submission.ids[0]).state, JudgeState::kJudged);
  const JudgeAnswer wrong = Answer(*queue, submission.ids[1]);
  EXPECT_EQ(wrong.state, JudgeState::kJudged);
  EXPECT_EQ(nlohmann::json::parse(wrong.json)["words"], "wrong at resources: f16");
  EXPECT_EQ(Answer(*queue, submission.ids[2]).state, JudgeState::kUntimed);
  EXPECT_EQ(Answer(*queue, submission.ids[3]).state, JudgeState::kFailed);
  EXPECT_EQ(queue->counts().answered[JudgeState::kJudged], 2);
  EXPECT_EQ(queue->counts().outcomes["wrong"], 1);
}

TEST_F(JudgeQueueTest, AJudgedRequestIsNotJudgedAgain) {
  const auto queue = Open();
  const std::string id = queue->Submit(Sources({"a"}))->ids.front();
  const JudgeAnswer first = Answer(*queue, id);
  EXPECT_EQ(queue->Submit(Sources({"a"}))->ids.front(), id);
  EXPECT_EQ(Answer(*queue, id).json, first.json);
  EXPECT_EQ(judge_.prepared(), 1);
  EXPECT_EQ(queue->counts().known, 1);
}

TEST_F(JudgeQueueTest, ARequestUnderWayIsJoinedAndOneTwiceInABatchIsOne) {
  judge_.Open(false);
  const auto queue = Open();
  const Submission first = *queue->Submit(Sources({"a", "a"}));
  EXPECT_EQ(first.ids[0], first.ids[1]);
  judge_.WaitForPrepared(1);
  EXPECT_EQ(queue->Submit(Sources({"a"}))->ids.front(), first.ids[0]);
  EXPECT_EQ((*queue->Find(first.ids[0]))->state, JudgeState::kPending);
  EXPECT_EQ((*queue->Wait(first.ids[0], std::chrono::milliseconds(1)))->state, JudgeState::kPending);
  judge_.Open(true);
  EXPECT_EQ(Answer(*queue, first.ids[0]).state, JudgeState::kJudged);
  EXPECT_EQ(judge_.prepared(), 1);
}

TEST_F(JudgeQueueTest, AStateThatSaysNothingOfTheSubjectIsJudgedAgain) {
  const auto queue = Open();
  for (const char* text : {"untimed", "fails"}) {
    const int before = judge_.prepared();
    for (int i = 0; i < 2; ++i) Answer(*queue, queue->Submit(Sources({text}))->ids.front());
    EXPECT_EQ(judge_.prepared(), before + 2) << text;
  }
}

TEST_F(JudgeQueueTest, AFullQueueRefusesAllOfABatchAndStillTakesWhatItKnows) {
  judge_.Open(false);
  const auto queue = Open({.capacity = 2});
  const std::vector<std::string> ids = queue->Submit(Sources({"a", "b"}))->ids;
  EXPECT_TRUE(queue->Submit(Sources({"c"}))->is_full);
  EXPECT_FALSE(queue->Submit(Sources({"a"}))->is_full);
  EXPECT_EQ(queue->counts().refused, 1);
  EXPECT_EQ(queue->counts().under_way, 2u);
  judge_.Open(true);
  for (const std::string& id : ids) Answer(*queue, id);
  EXPECT_FALSE(queue->Submit(Sources({"c"}))->is_full);
  EXPECT_TRUE(queue->Submit(Sources({"d", "e", "f"}))->is_full);
}

TEST_F(JudgeQueueTest, OnlyCandidatesOfOneProblemAreTimedTogether) {
  judge_.Open(false);
  const auto queue = Open({.prepare_threads = 4});
  std::vector<JudgeRequest> requests;
  for (int i = 0; i < 40; ++i) requests.push_back(SourceNamed(std::to_string(i), {64 * (1 + i % 3), 64, 64}));
  const std::vector<std::string> ids = queue->Submit(std::move(requests))->ids;
  judge_.Open(true);
  for (const std::string& id : ids) EXPECT_EQ(Answer(*queue, id).state, JudgeState::kJudged);
  EXPECT_EQ(judge_.timed_, 40);
  EXPECT_FALSE(judge_.mixed_);
}

TEST_F(JudgeQueueTest, AnUnknownIdHasNoAnswer) {
  const auto queue = Open();
  EXPECT_FALSE(queue->Find("0123")->has_value());
  EXPECT_FALSE(queue->Wait("0123", kPatience)->has_value()) << "and nothing is waited for";
}

TEST_F(JudgeQueueTest, AGpuWithoutWorkIsGivenBack) {
  const auto queue = Open({.rest_after = std::chrono::milliseconds(1)});
  while (judge_.rests_ == 0) std::this_thread::yield();
  EXPECT_EQ(Answer(*queue, queue->Submit(Sources({"a"}))->ids.front()).state, JudgeState::kJudged);
}

TEST_F(JudgeQueueTest, WhatWaitedWhenTheQueueEndedIsJudgedByTheNextOneThatResumes) {
  std::vector<std::string> ids;
  judge_.Open(false);
  {
    const auto queue = Open({.prepare_threads = 0});
    ids = queue->Submit(Sources({"a", "b", "ends"}))->ids;
  }
  judge_.Open(true);
  journal_ = *JudgeJournal::Open(path_);
  {
    const auto queue = Open();
    EXPECT_EQ((*queue->Find(ids[0]))->state, JudgeState::kPending) << "without being told to";
  }
  const auto queue = Open({.resumes = true});
  for (const std::string& id : ids) EXPECT_EQ(Answer(*queue, id).state, JudgeState::kJudged);
  EXPECT_EQ(judge_.prepared(), 3);
}

TEST_F(JudgeQueueTest, TheTextOfASourceIsFoundByItsHashAndByTheIdOfItsRequest) {
  const auto queue = Open();
  const JudgeRequest request = SourceNamed("text");
  const std::string id = queue->Submit({request})->ids.front();
  EXPECT_EQ(*journal_->FindSource(id), "text");
  const auto recorded = std::get<RecordedSource>(SubjectOf(request.subject));
  EXPECT_EQ(*journal_->FindSource(recorded.hash), "text");
  EXPECT_FALSE(journal_->FindSource("0123")->has_value());
}

TEST(JudgeJournal, TheFirstAnswerStays) {
  const TemporaryFolder folder = *TemporaryFolder::Create("gemmsmith-judge-journal-test");
  const auto journal = *JudgeJournal::Open(folder.path() / "judge.sqlite");
  const JudgeJob job{"id", SourceNamed("a")};
  ASSERT_TRUE(journal->Accept({&job, 1}).ok());
  ASSERT_TRUE(journal->Finish("id", {JudgeState::kJudged, "{\"n\":1}"}).ok());
  ASSERT_TRUE(journal->Finish("id", {JudgeState::kJudged, "{\"n\":2}"}).ok());
  ASSERT_TRUE(journal->Accept({&job, 1}).ok());
  EXPECT_EQ((*journal->Find("id"))->json, "{\"n\":1}");
  EXPECT_TRUE(journal->Pending()->empty());
}

TEST(JudgeJournal, ADamagedAnswerIsNone) {
  const TemporaryFolder folder = *TemporaryFolder::Create("gemmsmith-judge-journal-test");
  const auto journal = *JudgeJournal::Open(folder.path() / "judge.sqlite");
  const JudgeJob job{"id", SourceNamed("a")};
  ASSERT_TRUE(journal->Accept({&job, 1}).ok());
  ASSERT_TRUE(journal->Finish("id", {JudgeState::kJudged, "{}"}).ok());
  ASSERT_TRUE(journal->Find("id").ok());
  const auto database = *Database::Open(folder.path() / "judge.sqlite");
  for (const char* damage : {"answer = '{\"n\":'", "answer = '[]'", "answer = NULL", "state = 'jugded'"}) {
    ASSERT_TRUE(database->Execute(fmt::format("UPDATE request SET {}", damage)).ok());
    EXPECT_EQ(journal->Find("id").status().code(), StatusCode::kDataLoss) << damage;
  }
}

TEST(JudgeJournal, AnotherFileIsRefused) {
  const TemporaryFolder folder = *TemporaryFolder::Create("gemmsmith-judge-journal-test");
  ASSERT_TRUE(WriteFileAtomic(folder.path() / "text", std::string(10'000, 'x')).ok());
  EXPECT_FALSE(JudgeJournal::Open(folder.path() / "text").ok());
  const auto other = *Database::Open(folder.path() / "other.sqlite");
  ASSERT_TRUE(other->Execute("CREATE TABLE other (x)").ok());
  EXPECT_EQ(JudgeJournal::Open(folder.path() / "other.sqlite").status().code(), StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace gemmsmith
