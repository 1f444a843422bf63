#include "llm/instruct.h"

#include <gtest/gtest.h>

#include "base/files.h"
#include "corpus/text_shards.h"
#include "llm/fake_writer.h"

namespace gemmsmith {
namespace {

namespace fs = std::filesystem;

Snippet CodeNumber(int number) {
  return {.context = {},
          .instruction = "An author's comment",
          .text = "code " + std::to_string(number),
          .instruction_by = std::string(kByComment),
          .kind = number == 2 ? SnippetKind::kSection : SnippetKind::kKernel,
          .title = "k",
          .source = "s",
          .path = "a.cu",
          .license = "MIT"};
}

Result<ChatAnswer> InstructionFor(const ChatRequest& request) {
  const std::string& asked = request.messages.back().content;
  return ChatAnswer{.text = "Write what is\n" + asked.substr(asked.find("code "))};
}

class InstructTest : public testing::Test {
 protected:
  // Two shards of ten snippets each.
  InstructTest() {
    for (int shard = 0; shard < 2; ++shard) {
      SnippetShard texts{.origin = "a test"};
      for (int i = 0; i < 10; ++i) texts.snippets.push_back(CodeNumber(10 * shard + i));
      EXPECT_TRUE(WriteSnippets(texts, Path("in") / TextShardName(shard)).ok());
    }
  }
  fs::path Path(const std::string& name) const { return folder_.path() / name; }
  Result<InstructSummary> Write(const std::string& output, ChatModel* model, const fs::path& cassette = "") const {
    return WriteInstructions({Path("in"), Path(output), model == nullptr ? "" : "m", cassette}, model, nullptr,
                             nullptr);
  }
  std::vector<Snippet> TextsIn(const std::string& output) const {
    std::vector<Snippet> texts;
    for (int shard = 0; shard < 2; ++shard) {
      const SnippetShard read = *ReadSnippets(Path(output) / TextShardName(shard));
      texts.insert(texts.end(), read.snippets.begin(), read.snippets.end());
    }
    return texts;
  }

  const TemporaryFolder folder_ = *TemporaryFolder::Create("instruct");
};

TEST_F(InstructTest, TheModelsWordsTakeThePlaceOfTheAuthors) {
  FakeModel model(InstructionFor);
  const Result<InstructSummary> summary = Write("out", &model);
  ASSERT_TRUE(summary.ok()) << summary.status().message();
  EXPECT_EQ(summary->written, 19);
  const std::vector<Snippet> texts = TextsIn("out");
  ASSERT_EQ(texts.size(), 20u);
  EXPECT_EQ(texts[3].instruction, "Write what is code 3");
  EXPECT_EQ(texts[3].instruction_by, "m");
  EXPECT_EQ(texts[3].text, "code 3");
  EXPECT_EQ(texts[2], CodeNumber(2));  // a section
}

TEST_F(InstructTest, ACassetteAnswersWithoutAnEndpoint) {
  FakeModel model(InstructionFor);
  ASSERT_TRUE(Write("out", &model).ok());
  const Result<InstructSummary> replay = Write("again", nullptr, Path("out/exchanges"));
  ASSERT_TRUE(replay.ok()) << replay.status().message();
  EXPECT_EQ(replay->model, "m");
  EXPECT_EQ(TextsIn("again"), TextsIn("out"));
  ASSERT_TRUE(WriteSnippets({.origin = "x", .snippets = {CodeNumber(99)}}, Path("in") / TextShardName(0)).ok());
  const Status status = Write("other", nullptr, Path("out/exchanges")).status();
  EXPECT_EQ(status.code(), StatusCode::kNotFound);
  EXPECT_NE(status.message().find("the cassette has no answer"), std::string::npos);
}

TEST_F(InstructTest, AFailedRunAsksNothingTwice) {
  FakeModel fails([](const ChatRequest& request) -> Result<ChatAnswer> {
    if (request.messages.back().content.ends_with("code 15")) return Unavailable("no endpoint");
    return InstructionFor(request);
  });
  EXPECT_EQ(Write("out", &fails).status().message(), "no endpoint");
  FakeModel model(InstructionFor);
  ASSERT_TRUE(Write("out", &model).ok());
  for (const ChatRequest& request : model.requests())
    EXPECT_FALSE(request.messages.back().content.ends_with("code 1")) << "asked twice";
  // 9 of the first shard, and 7 of the first 8 of the second were answered before.
  EXPECT_EQ(model.requests().size(), 3u);
  EXPECT_EQ(TextsIn("out")[15].instruction, "Write what is code 15");
}

// The endpoint takes one question not: it is too long for the model.
TEST_F(InstructTest, ARefusedQuestionIsSkippedAndCounted) {
  FakeModel refuses([](const ChatRequest& request) -> Result<ChatAnswer> {
    if (request.messages.back().content.ends_with("code 5")) return InvalidArgument("too long");
    if (request.messages.back().content.ends_with("code 15")) return Unavailable("no endpoint");
    return InstructionFor(request);
  });
  EXPECT_EQ(Write("out", &refuses).status().message(), "no endpoint");
  FakeModel model(InstructionFor);
  fs::remove(Path("out") / TextShardName(0));
  const Result<InstructSummary> summary = Write("out", &model);
  ASSERT_TRUE(summary.ok()) << summary.status().message();
  EXPECT_EQ(summary->refused, 1);
  EXPECT_EQ(summary->written, 18);
  EXPECT_EQ(TextsIn("out")[5], CodeNumber(5));
  for (const ChatRequest& request : model.requests())
    EXPECT_FALSE(request.messages.back().content.ends_with("code 5")) << "asked twice";
  const Result<InstructSummary> replay = Write("again", nullptr, Path("out/exchanges"));
  ASSERT_TRUE(replay.ok()) << replay.status().message();
  EXPECT_EQ(replay->refused, 1);
  EXPECT_EQ(TextsIn("again"), TextsIn("out"));
}

TEST_F(InstructTest, AnEndpointThatTakesNoQuestionEndsTheRun) {
  FakeModel refuses([](const ChatRequest&) -> Result<ChatAnswer> { return InvalidArgument("no such parameter"); });
  EXPECT_EQ(Write("out", &refuses).status().message(), "no such parameter");
  EXPECT_EQ(refuses.requests().size(), 8u);
  FakeModel model(InstructionFor);
  EXPECT_EQ(Write("out", &model)->written, 19);
}

// Also of a run that was stopped before its first shard was whole.
TEST_F(InstructTest, AnswersOfTwoModelsDoNotMix) {
  FakeModel fails([](const ChatRequest& request) -> Result<ChatAnswer> {
    if (request.messages.back().content.ends_with("code 9")) return Unavailable("no endpoint");
    return InstructionFor(request);
  });
  ASSERT_FALSE(Write("out", &fails).ok());
  FakeModel model(InstructionFor);
  const Status mixed = WriteInstructions({Path("in"), Path("out"), "n", ""}, &model, nullptr, nullptr).status();
  EXPECT_EQ(mixed.code(), StatusCode::kInvalidArgument);
  EXPECT_NE(mixed.message().find("has answers of m, not of n"), std::string::npos);
  EXPECT_TRUE(model.requests().empty());
  ASSERT_TRUE(Write("out", &model).ok());
  ASSERT_TRUE(WriteInstructions({Path("in"), Path("other"), "n", ""}, &model, nullptr, nullptr).ok());
  fs::copy_file(Path("other/exchanges") / TextShardName(1), Path("out/exchanges") / TextShardName(1),
                fs::copy_options::overwrite_existing);
  const Status replay = Write("again", nullptr, Path("out/exchanges")).status();
  EXPECT_NE(replay.message().find("has answers of n, not of m"), std::string::npos) << replay.message();
}

TEST_F(InstructTest, AnswersThatAreNoInstructionLeaveTheAuthors) {
  FakeModel model([](const ChatRequest&) -> Result<ChatAnswer> { return ChatAnswer{.text = "```\nint x;\n```"}; });
  const Result<InstructSummary> summary = Write("out", &model);
  EXPECT_EQ(summary->unreadable, 19);
  EXPECT_EQ(TextsIn("out")[3], CodeNumber(3));
}

TEST_F(InstructTest, AnotherModelNeedsAnotherFolder) {
  FakeModel model(InstructionFor);
  ASSERT_TRUE(Write("out", &model).ok());
  const Status status = WriteInstructions({Path("in"), Path("out"), "n", ""}, &model, nullptr, nullptr).status();
  EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
}

TEST(InstructionInAnswerTest, IsOneLineOfWords) {
  EXPECT_EQ(InstructionInAnswer({.text = " \"Write a\n kernel that adds.\"\n"}), "Write a kernel that adds.");
  EXPECT_EQ(InstructionInAnswer({.text = "two words"}), "");
  EXPECT_EQ(InstructionInAnswer({.text = "Write a kernel that", .is_cut = true}), "");
  EXPECT_EQ(InstructionInAnswer({.text = std::string(601, 'x') + " a b"}), "");
  EXPECT_EQ(InstructionInAnswer({.text = ""}), "");
}

}  // namespace
}  // namespace gemmsmith
