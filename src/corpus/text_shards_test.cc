#include "corpus/text_shards.h"

#include <gtest/gtest.h>

#include <fstream>

#include "base/files.h"

namespace gemmsmith {
namespace {

TextExample ExampleNumber(int number) {
  return {
      .prompt = "// m 64\n", .text = "kernel \"" + std::to_string(number) + "\"\n", .plan = "direct", .problem = "g"};
}

class TextShardsTest : public testing::Test {
 protected:
  std::filesystem::path Path(const std::string& name) const { return folder_.path() / name; }
  std::filesystem::path Write(const std::string& name, int first, int count) const {
    TextShard shard{.origin = "a test"};
    for (int i = 0; i < count; ++i) shard.examples.push_back(ExampleNumber(first + i));
    EXPECT_TRUE(WriteTextShard(shard, Path(name)).ok());
    return Path(name);
  }
  // The message for a file of this content.
  std::string Refusal(const std::string& content) const {
    std::ofstream(Path("bad.jsonl"), std::ios::binary) << content;
    const Status status = ReadTextShard(Path("bad.jsonl")).status();
    EXPECT_EQ(status.code(), StatusCode::kDataLoss);
    EXPECT_EQ(status.message().find('\n'), std::string::npos);
    return status.message();
  }

  const TemporaryFolder folder_ = *TemporaryFolder::Create("text_shards");
};

TEST_F(TextShardsTest, ReadsWhatItWrote) {
  const Result<TextShard> shard = ReadTextShard(Write("a.jsonl", 5, 3));
  ASSERT_TRUE(shard.ok()) << shard.status().message();
  EXPECT_EQ(shard->origin, "a test");
  EXPECT_EQ(shard->examples, (std::vector{ExampleNumber(5), ExampleNumber(6), ExampleNumber(7)}));
}

TEST_F(TextShardsTest, AFolderIsReadInTheOrderOfItsNames) {
  Write("b.jsonl", 2, 2);
  Write("a.jsonl", 0, 2);
  ASSERT_TRUE(WriteFileAtomic(Path("notes.txt"), "none of ours").ok());
  std::vector<TextExample> read;
  const std::filesystem::path files[] = {folder_.path()};
  ASSERT_TRUE(ForEachText(files, [&](const TextExample& example) {
                read.push_back(example);
                return OkStatus();
              }).ok());
  EXPECT_EQ(read, (std::vector{ExampleNumber(0), ExampleNumber(1), ExampleNumber(2), ExampleNumber(3)}));
}

TEST_F(TextShardsTest, TheReadersFailureEndsTheReading) {
  const std::filesystem::path files[] = {Write("a.jsonl", 0, 3)};
  int texts = 0;
  const Status status =
      ForEachText(files, [&](const TextExample&) { return ++texts == 2 ? Interrupted("enough") : OkStatus(); });
  EXPECT_EQ(status.message(), "enough");
  EXPECT_EQ(texts, 2);
}

TEST_F(TextShardsTest, EveryCutIsRefusedWithItsLine) {
  const std::string content = *ReadFile(Write("a.jsonl", 0, 2));
  for (size_t size = 0; size + 1 < content.size(); ++size) {
    const std::string message = Refusal(content.substr(0, size));
    EXPECT_NE(message.find("bad.jsonl:"), std::string::npos) << message;
  }
  EXPECT_NE(Refusal(content.substr(0, content.size() - 5)).find("bad.jsonl:3: "), std::string::npos);
}

TEST_F(TextShardsTest, DamageIsNamed) {
  const std::string header = R"({"gemmsmith_texts":1,"origin":"x","texts":1})";
  EXPECT_NE(Refusal(header + "\n{\"prompt\":\"\",\"text\":7}\n").find("bad.jsonl:2: no text \"text\""),
            std::string::npos);
  EXPECT_NE(Refusal(header + "\n").find("0 of 1 text; cut off?"), std::string::npos);
  EXPECT_NE(Refusal("{\"gemmsmith_trial\":1}\n").find("no shard of texts"), std::string::npos);
  EXPECT_NE(Refusal("{\"gemmsmith_texts\":2}\n").find("another version"), std::string::npos);
  EXPECT_NE(Refusal("").find("cut off?"), std::string::npos);
  const std::string deep = std::string(200000, '[') + std::string(200000, ']');
  EXPECT_NE(Refusal("{\"gemmsmith_texts\":" + deep + "}\n").find("another version"), std::string::npos);
  EXPECT_NE(Refusal(header + "\n{\"prompt\":" + deep + "}\n").find("no text \"prompt\""), std::string::npos);
}

TEST_F(TextShardsTest, OfMessagesTheLastIsTheText) {
  const std::string header = R"({"gemmsmith_texts":1,"origin":"x","texts":2})";
  const std::string chat =
      R"({"messages":[{"role":"system","content":"c"},{"role":"user","content":"i"},{"role":"assistant","content":"t"}]})";
  const std::string alone = R"({"messages":[{"role":"assistant","content":"t"}]})";
  ASSERT_TRUE(WriteFileAtomic(Path("a.jsonl"), header + "\n" + chat + "\n" + alone + "\n").ok());
  const std::vector<TextExample> expected = {{.prompt = "c\ni\n", .text = "t", .plan = {}, .problem = {}},
                                             {.prompt = "", .text = "t", .plan = {}, .problem = {}}};
  EXPECT_EQ(ReadTextShard(Path("a.jsonl"))->examples, expected);
  const std::string one = R"({"gemmsmith_texts":1,"origin":"x","texts":1})";
  EXPECT_NE(Refusal(one + "\n{\"messages\":[]}\n").find("bad.jsonl:2: \"messages\" is no list"), std::string::npos);
  EXPECT_NE(Refusal(one + "\n{\"messages\":[7]}\n").find("is no list of messages"), std::string::npos);
}

TEST_F(TextShardsTest, MissingTextsAreAnError) {
  const auto read = [](const std::filesystem::path& path) {
    return ForEachText(std::span(&path, 1), [](const TextExample&) { return OkStatus(); });
  };
  EXPECT_EQ(read(Path("none.jsonl")).code(), StatusCode::kNotFound);
  EXPECT_EQ(read(folder_.path()).code(), StatusCode::kNotFound);
}

}  // namespace
}  // namespace gemmsmith
