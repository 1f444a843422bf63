#include "llm/writing.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <set>

#include "base/files.h"
#include "llm/fake_writer.h"
#include "llm/logged.h"

namespace gemmsmith {
namespace {

WritingOptions SomeOptions(int answers) {
  return {.gemm = {.shape = {64, 64, 64}},
          .task = "# Problem",
          .example = SourceThat("takes 4000"),
          .model = "m",
          .islands = 2,
          .repairs = 1,
          .answers = answers};
}

Result<WritingResult> Write(const WritingOptions& options, ChatModel& model, SourceJudge& judge,
                            Documentation* documentation = nullptr) {
  const std::unique_ptr<StopRule> stop = StopOnAny({});
  return WriteKernels(options, model, judge, documentation, *stop, [](const WritingEvent&) {});
}

// Finds the same for every query, and remembers them.
class FakeDocumentation : public Documentation {
 public:
  Result<std::string> QuoteFor(const DocumentQuery& query) override {
    queries_.push_back(query.words);
    if (query.words == "nowhere") return std::string();
    return "# Documentation\n\n> on " + query.words + "\n\n";
  }
  const std::vector<std::string>& queries() const { return queries_; }

 private:
  std::vector<std::string> queries_;
};

ChatAnswer Says(std::string text) { return {.text = std::move(text), .prompt_tokens = 1000, .answer_tokens = 100}; }

// Sources that become faster with each seed seen.
FakeModel FasterAndFaster() {
  auto time_ns = std::make_shared<int>(3000);
  return FakeModel(
      [time_ns](const ChatRequest&) { return Says(AnswerThat(fmt::format("takes {}", *time_ns -= 100))); });
}

TEST(Writing, TheFastestIsJudgedWithCareAndComesFirst) {
  FakeModel model = FasterAndFaster();
  FakeSourceJudge judge;
  const Result<WritingResult> result = Write(SomeOptions(8), model, judge);
  ASSERT_TRUE(result.ok()) << result.status().message();
  EXPECT_EQ(result->counts.answers, 8);
  EXPECT_EQ(result->counts.outcomes, (std::map<std::string, int64_t>{{"measured", 8}}));
  EXPECT_EQ(result->stop_reason, "budget of 8 answers used");
  ASSERT_EQ(result->best.size(), 2u);
  EXPECT_EQ(result->best[0].source, SourceThat("takes 2200"));
  EXPECT_EQ(result->best[0].verdict.speed_up, 1000 / 2200.0);
  EXPECT_EQ(judge.protocols().back(), Protocol::kShort);
  EXPECT_EQ(judge.protocols().front(), Protocol::kScreen);
}

TEST(Writing, QuestionsShowTwoContrastingSourcesWithTheirTimes) {
  FakeModel model = FasterAndFaster();
  FakeSourceJudge judge;
  ASSERT_TRUE(Write(SomeOptions(8), model, judge).ok());
  const std::string& first = model.requests()[0].messages.back().content;
  EXPECT_NE(first.find("# Problem"), first.npos);
  EXPECT_NE(first.find("It takes 4.000 us, 0.250x the speed of cuBLASLt AutoTuning."), first.npos) << first;
  EXPECT_EQ(first.find("# Kernel 2"), first.npos) << "there is but the example";
  const std::string& last = model.requests().back().messages.back().content;
  const size_t one = last.find("# Kernel 1"), two = last.find("# Kernel 2");
  ASSERT_NE(two, last.npos) << last;
  EXPECT_LT(*ParseDouble(last.substr(last.find("It takes ", one) + 9, 5)),
            *ParseDouble(last.substr(last.find("It takes ", two) + 9, 5)));
}

TEST(Writing, ARefusedSourceIsMendedForABoundedNumberOfAnswers) {
  FakeModel model([](const ChatRequest&) { return Says(AnswerThat("does not compile")); });
  FakeSourceJudge judge;
  const Result<WritingResult> result = Write(SomeOptions(6), model, judge);
  ASSERT_TRUE(result.ok()) << result.status().message();
  EXPECT_TRUE(result->best.empty());
  EXPECT_EQ(result->counts.outcomes, (std::map<std::string, int64_t>{{"compile_failed", 6}}));
  std::multiset<size_t> lengths;
  for (const ChatRequest& request : model.requests()) lengths.insert(request.messages.size());
  EXPECT_EQ(lengths, (std::multiset<size_t>{2, 2, 2, 2, 4, 4}))
      << "of two islands, in a round of two answers and one more";
  const ChatRequest& repair = model.requests()[2];
  EXPECT_NE(repair.messages.back().content.find("error: a semicolon"), std::string::npos);
  EXPECT_EQ(repair.messages[2].role, "assistant");
}

TEST(Writing, DocumentationStandsBetweenTheTaskAndTheKernels) {
  FakeModel with_model = FasterAndFaster(), model = FasterAndFaster();
  FakeSourceJudge judge;
  FakeDocumentation documentation;
  WritingOptions options = SomeOptions(2);
  options.query.words = "gemm";
  ASSERT_TRUE(Write(options, with_model, judge, &documentation).ok());
  ASSERT_TRUE(Write(options, model, judge).ok());
  const std::string& without = model.requests()[0].messages.back().content;
  std::string with = with_model.requests()[0].messages.back().content;
  EXPECT_TRUE(with.starts_with("# Problem\n\n# Documentation\n\n> on gemm\n\n# Kernel 1")) << with;
  EXPECT_TRUE(without.starts_with("# Problem\n\n# Kernel 1\n\nIt takes")) << without;
  EXPECT_EQ(with.erase(11, with.find("# Kernel") - 11), without) << "nothing else differs";
}

TEST(Writing, DocumentationThatSaysNothingOnTheProblemEndsTheRun) {
  FakeModel model = FasterAndFaster();
  FakeSourceJudge judge;
  FakeDocumentation documentation;
  WritingOptions options = SomeOptions(2);
  options.query.words = "nowhere";
  EXPECT_EQ(Write(options, model, judge, &documentation).status().code(), StatusCode::kNotFound);
  EXPECT_TRUE(model.requests().empty());
}

TEST(Writing, ARepairQuotesDocumentationOnTheCompilersNamesOnce) {
  FakeModel model([](const ChatRequest&) { return Says(AnswerThat("names a stranger")); });
  FakeSourceJudge judge("error: identifier \"stranger\" is undefined");
  FakeDocumentation documentation;
  WritingOptions options = SomeOptions(3);
  options.islands = 1, options.repairs = 2, options.query.words = "gemm";
  ASSERT_TRUE(Write(options, model, judge, &documentation).ok());
  EXPECT_EQ(documentation.queries()[1], "stranger");
  ASSERT_EQ(model.requests().size(), 3u);
  const std::vector<ChatMessage>& messages = model.requests()[2].messages;
  EXPECT_NE(messages[3].content.find("\n# Documentation\n\n> on stranger\n\n\nMend it."), std::string::npos)
      << messages[3].content;
  EXPECT_EQ(messages[5].content.find("> on stranger"), std::string::npos) << "it was said before";
}

TEST(Writing, EditsInARepairAreOfTheSourceThatWasRefused) {
  int asked = 0;
  FakeModel model([&](const ChatRequest&) {
    if (++asked == 1) return Says(AnswerThat("broken"));
    return Says("<<<<<<< SEARCH\n" + SourceThat("broken") + "=======\n" + SourceThat("takes 50") + ">>>>>>> REPLACE\n");
  });
  FakeSourceJudge judge;
  WritingOptions options = SomeOptions(2);
  options.islands = 1;
  const Result<WritingResult> result = Write(options, model, judge);
  ASSERT_TRUE(result.ok());
  ASSERT_EQ(result->best.size(), 1u);
  EXPECT_EQ(result->best[0].source, SourceThat("takes 50"));
}

TEST(Writing, AnAnswerWithoutCodeIsCountedAndAskedForAgain) {
  FakeModel model([](const ChatRequest&) { return ChatAnswer{.text = "no", .is_cut = true}; });
  FakeSourceJudge judge;
  const Result<WritingResult> result = Write(SomeOptions(4), model, judge);
  ASSERT_TRUE(result.ok());
  EXPECT_EQ(result->counts.unreadable, 4);
  EXPECT_TRUE(result->counts.outcomes.empty());
  EXPECT_EQ(judge.judged().size(), 1u) << "the example alone";
  EXPECT_NE(model.requests().back().messages.back().content.find("write less"), std::string::npos);
}

TEST(Writing, TokensAndMoneyEndIt) {
  FakeSourceJudge judge;
  WritingOptions options = SomeOptions(1000);
  options.tokens = 5000;
  FakeModel model = FasterAndFaster();
  EXPECT_EQ(Write(options, model, judge)->stop_reason, "budget of 5,000 tokens used");
  options.tokens.reset();
  options.price = {.prompt = 1, .answer = 10};
  options.dollars = 0.01;
  FakeModel another = FasterAndFaster();
  const Result<WritingResult> result = Write(options, another, judge);
  EXPECT_EQ(result->stop_reason, "budget of 0.01 dollars used");
  EXPECT_DOUBLE_EQ(result->counts.dollars, double(result->counts.answers) * (1000 * 1 + 100 * 10) / 1e6);
}

TEST(Writing, AFailureOfTheMachineIsNoVerdict) {
  FakeModel model([](const ChatRequest&) { return Says(AnswerThat("fails")); });
  FakeSourceJudge judge;
  EXPECT_EQ(Write(SomeOptions(4), model, judge).status().message(), "no disk");
  FakeModel silent([](const ChatRequest&) { return Result<ChatAnswer>(Unavailable("no endpoint")); });
  EXPECT_EQ(Write(SomeOptions(4), silent, judge).status().message(), "no endpoint");
  WritingOptions options = SomeOptions(4);
  options.example = SourceThat("broken");
  EXPECT_NE(Write(options, model, judge).status().message().find("the example source does not pass"),
            std::string::npos);
}

TEST(Writing, WithoutAGpuEverySourceThatPassedIsAnAnswer) {
  FakeModel model([](const ChatRequest&) { return Says(AnswerThat("untimed")); });
  FakeSourceJudge judge;
  WritingOptions options = SomeOptions(4);
  options.example = SourceThat("untimed example");
  const Result<WritingResult> result = Write(options, model, judge);
  ASSERT_TRUE(result.ok()) << result.status().message();
  ASSERT_EQ(result->best.size(), 1u) << "the same source counts once";
  EXPECT_EQ(result->best[0].source, SourceThat("untimed"));
  EXPECT_EQ(judge.protocols().back(), Protocol::kScreen) << "nothing to judge with care";
}

class Cassette : public testing::Test {
 protected:
  std::filesystem::path path() const { return folder_.path() / "log" / "run.jsonl"; }
  std::unique_ptr<ExchangeLog> Log(bool is_read_only = false) {
    Result<std::unique_ptr<ExchangeLog>> log = ExchangeLog::Open(path(), is_read_only);
    EXPECT_TRUE(log.ok()) << log.status().message();
    return *std::move(log);
  }
  // From the model and the judge, through the log.
  Result<WritingResult> Recorded(int answers, FakeModel& model, FakeSourceJudge& judge) {
    const std::unique_ptr<ExchangeLog> log = Log();
    LoggedModel logged(&model, *log);
    LoggedJudge logged_judge(&judge, *log);
    return Write(SomeOptions(answers), logged, logged_judge);
  }
  Result<WritingResult> Replayed(int answers) {
    const std::unique_ptr<ExchangeLog> log = Log(true);
    LoggedModel model(nullptr, *log);
    LoggedJudge judge(nullptr, *log);
    return Write(SomeOptions(answers), model, judge);
  }
  const TemporaryFolder folder_ = *TemporaryFolder::Create("cassette");
};

TEST_F(Cassette, ARunOverItIsTheSameAndAsksNobody) {
  FakeModel model = FasterAndFaster();
  FakeSourceJudge judge;
  const Result<WritingResult> recorded = Recorded(12, model, judge);
  ASSERT_TRUE(recorded.ok()) << recorded.status().message();
  const Result<WritingResult> replayed = Replayed(12);
  ASSERT_TRUE(replayed.ok()) << replayed.status().message();
  ASSERT_EQ(replayed->best.size(), recorded->best.size());
  for (size_t i = 0; i < recorded->best.size(); ++i) EXPECT_EQ(replayed->best[i].source, recorded->best[i].source);
  EXPECT_EQ(replayed->counts.prompt_tokens, recorded->counts.prompt_tokens);
  EXPECT_EQ(replayed->counts.outcomes, recorded->counts.outcomes);
}

TEST_F(Cassette, ARunThatWasCutOffGoesOnFromWhatWasExchanged) {
  FakeModel model = FasterAndFaster();
  FakeSourceJudge judge;
  ASSERT_TRUE(Recorded(4, model, judge).ok());
  std::filesystem::resize_file(path(), std::filesystem::file_size(path()) - 5);  // kill -9 in a write
  FakeModel rest = FasterAndFaster();
  FakeSourceJudge rest_judge;
  ASSERT_TRUE(Recorded(12, rest, rest_judge).ok());
  EXPECT_EQ(model.requests().size() + rest.requests().size(), 12u);
  EXPECT_TRUE(Replayed(12).ok());
}

TEST_F(Cassette, WhatItDoesNotHoldIsNotMadeUp) {
  FakeModel model = FasterAndFaster();
  FakeSourceJudge judge;
  ASSERT_TRUE(Recorded(4, model, judge).ok());
  EXPECT_EQ(Replayed(5).status().code(), StatusCode::kNotFound);
  std::ofstream(path(), std::ios::app) << "{\"kind\": 1}\n";
  EXPECT_EQ(ExchangeLog::Open(path(), true).status().code(), StatusCode::kDataLoss);
  EXPECT_EQ(ExchangeLog::Open(folder_.path() / "none.jsonl", true).status().code(), StatusCode::kNotFound);
}

TEST_F(Cassette, ARepairThatTheModelRefusesEndsItsConversationAlone) {
  FakeModel model([](const ChatRequest& request) -> Result<ChatAnswer> {
    if (request.messages.size() > 2) return InvalidArgument("longer than the context");
    return Says(AnswerThat("does not compile"));
  });
  FakeSourceJudge judge;
  const Result<WritingResult> recorded = Recorded(5, model, judge);
  ASSERT_TRUE(recorded.ok()) << recorded.status().message();
  EXPECT_EQ(recorded->counts.answers, 5) << "a refusal is no answer";
  EXPECT_EQ(model.requests().size(), 5u + 3u) << "a repair that the budget has no room for is not asked for";
  const Result<WritingResult> replayed = Replayed(5);
  ASSERT_TRUE(replayed.ok()) << replayed.status().message();
  EXPECT_EQ(replayed->counts.answers, 5);
  FakeModel refuses([](const ChatRequest&) -> Result<ChatAnswer> { return InvalidArgument("no such parameter"); });
  EXPECT_EQ(Write(SomeOptions(5), refuses, judge).status().message(), "no such parameter") << "a first question";
}

TEST_F(Cassette, OneRunAtATimeWritesALog) {
  const std::unique_ptr<ExchangeLog> log = Log();
  EXPECT_EQ(ExchangeLog::Open(path(), false).status().code(), StatusCode::kUnavailable);
}

TEST(Population, ExemplarsAreOfDifferentBucketsAndMostlyFast) {
  Population population;
  const auto add = [&](int ns) {
    SourceVerdict verdict{.has_passed = true, .is_timed = true, .time_ns = double(ns)};
    population.Add({fmt::format("{}", ns), verdict});
  };
  for (const int ns : {1000, 1010, 2000, 8000}) add(ns);
  add(1000);
  EXPECT_EQ(population.members().size(), 4u);
  EXPECT_EQ(population.Fastest()->source, "1000");
  Random random(1);
  int slow = 0;
  for (int i = 0; i < 200; ++i) {
    const std::vector<const Member*> drawn = population.DrawExemplars(random);
    ASSERT_EQ(drawn.size(), 2u);
    EXPECT_LT(drawn[0]->verdict.time_ns * 1.5, drawn[1]->verdict.time_ns);
    slow += drawn[0]->verdict.time_ns >= 2000;
  }
  EXPECT_LT(slow, 20);
}

}  // namespace
}  // namespace gemmsmith
