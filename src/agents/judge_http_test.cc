#include "agents/judge_http.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "agents/fake_judge.h"
#include "agents/settled_reply.h"
#include "base/files.h"
#include "base/random.h"

namespace gemmsmith {
namespace {

using Json = nlohmann::ordered_json;

Json SourceBody(const std::string& text) { return {{"problem", "64x64x64"}, {"source", text}}; }

class JudgeHttpTest : public testing::Test {
 protected:
  HttpAnswer Get(const std::string& path, const std::string& query = "") {
    return Now(http_.Answer({.method = "GET", .path = path, .query = query}));
  }
  HttpAnswer Post(const std::string& body, const std::string& path = "/v1/judge") {
    return Now(http_.Answer({.method = "POST", .path = path, .body = body}));
  }
  static Json BodyOf(const HttpAnswer& answer) { return Json::parse(*answer.body); }
  std::string IdOfPosted(const std::string& text) { return BodyOf(Post(SourceBody(text).dump()))["results"][0]["id"]; }

  TemporaryFolder folder_ = *TemporaryFolder::Create("gemmsmith-judge-http-test");
  const std::unique_ptr<JudgeJournal> journal_ = *JudgeJournal::Open(folder_.path() / "judge.sqlite");
  FakeJudge judge_;
  const std::unique_ptr<JudgeQueue> queue_ = *JudgeQueue::Open(judge_, *journal_, {.capacity = 3});
  JudgeHttp http_{*queue_, "h200", ""};
};

TEST_F(JudgeHttpTest, AVerdictIs200AndEveryOtherStateIsNot) {
  EXPECT_EQ(Get("/v1/result/" + IdOfPosted("measured"), "wait=300").status, 200);
  const HttpAnswer wrong = Get("/v1/result/" + IdOfPosted("ends"), "wait=300");
  EXPECT_EQ(wrong.status, 200) << "a refused kernel is a verdict";
  EXPECT_EQ(BodyOf(wrong)["outcome"], "wrong");
  for (const char* text : {"untimed", "fails"}) {
    const HttpAnswer failed = Get("/v1/result/" + IdOfPosted(text), "wait=300");
    EXPECT_EQ(failed.status, 503) << text;
    EXPECT_FALSE(BodyOf(failed).contains("outcome")) << "nothing that a reward could be made of";
  }
}

TEST_F(JudgeHttpTest, AResultThatIsNotThereYetIs202AndOneThatNeverComesIs404) {
  judge_.Open(false);
  const std::string id = IdOfPosted("a");
  EXPECT_EQ(Get("/v1/result/" + id).status, 202);
  EXPECT_EQ(BodyOf(Get("/v1/result/" + id))["state"], "pending");
  EXPECT_EQ(Get("/v1/result/0123", "wait=300").status, 404);
  for (const char* query : {"wait=", "wait=-1", "wait=601", "wait=1.5", "x=1"})
    EXPECT_EQ(Get("/v1/result/" + id, query).status, 400) << query;
  judge_.Open(true);
  EXPECT_EQ(Get("/v1/result/" + id, "wait=300").status, 200);
}

TEST_F(JudgeHttpTest, ABatchIsAcceptedWholeOrNotAtAll) {
  judge_.Open(false);
  const Json batch = {{"requests", {SourceBody("a"), SourceBody("b"), SourceBody("a")}}};
  const HttpAnswer accepted = Post(batch.dump());
  EXPECT_EQ(accepted.status, 200);
  const Json results = BodyOf(accepted)["results"];
  ASSERT_EQ(results.size(), 3u);
  EXPECT_EQ(results[0]["id"], results[2]["id"]);

  const HttpAnswer full = Post(Json{{"requests", {SourceBody("c"), SourceBody("d")}}}.dump());
  EXPECT_EQ(full.status, 429);
  EXPECT_GT(full.retry_after_seconds, 0);
  EXPECT_EQ(queue_->counts().under_way, 2u);
  const HttpAnswer wrong = Post(Json{{"requests", {SourceBody("c"), Json::object()}}}.dump());
  EXPECT_EQ(wrong.status, 400);
  EXPECT_NE(wrong.body->find("request 1"), std::string::npos);
  EXPECT_EQ(queue_->counts().under_way, 2u);
  judge_.Open(true);
}

TEST_F(JudgeHttpTest, AJudgedRequestIsAnsweredAtOnce) {
  const std::string id = IdOfPosted("a");
  const HttpAnswer first = Get("/v1/result/" + id, "wait=300");
  EXPECT_EQ(BodyOf(Post(SourceBody("a").dump()))["results"][0], BodyOf(first));
}

TEST_F(JudgeHttpTest, WrongBodiesAndPathsAreRefused) {
  for (const char* body : {"", "{", "[]", "7", "{}", R"({"requests":[]})", R"({"requests":{}})", R"({"requests":[1]})",
                           R"({"requests":[],"x":1})"})
    EXPECT_EQ(Post(body).status, 400) << body;
  EXPECT_EQ(Post("{}", "/v1/result/x").status, 404);
  EXPECT_EQ(Get("/").status, 404);
  EXPECT_EQ(Get("/v1/judge").status, 405);
}

TEST_F(JudgeHttpTest, FiftyThousandSpoiltBodiesAreAnswered) {
  const std::string whole = Json{{"requests", {SourceBody("untimed")}}}.dump();
  Random random(1);
  for (int i = 0; i < 50'000; ++i) {
    std::string spoilt = whole.substr(0, random.Below(whole.size() + 1));
    for (int changes = 0; changes < 2 && !spoilt.empty(); ++changes)
      spoilt[random.Below(spoilt.size())] = char(random.Below(256));
    const int status = Post(spoilt).status;
    ASSERT_TRUE(status == 400 || status == 200 || status == 429) << status << spoilt;
  }
}

TEST_F(JudgeHttpTest, MetricsCountWhatHappened) {
  const std::string id = IdOfPosted("ends");
  Get("/v1/result/" + id, "wait=300");
  IdOfPosted("ends");
  const std::string text = *Get("/metrics").body;
  for (const char* line : {"\ngemmsmith_judge_accepted_total 1\n", "\ngemmsmith_judge_known_total 1\n",
                           "\ngemmsmith_judge_under_way 0\n", "\ngemmsmith_judge_answered_total{state=\"judged\"} 1\n",
                           "\ngemmsmith_judge_outcomes_total{outcome=\"wrong\"} 1\n"})
    EXPECT_NE(text.find(line), std::string::npos) << line << text;
  EXPECT_EQ(BodyOf(Get("/health"))["device"], "h200");
}

}  // namespace
}  // namespace gemmsmith
