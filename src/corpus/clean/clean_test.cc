#include "corpus/clean/clean.h"

#include <gtest/gtest.h>

#include "base/files.h"
#include "corpus/clean/near_duplicates.h"
#include "corpus/text_shards.h"

namespace gemmsmith {
namespace {

namespace fs = std::filesystem;

std::string KernelText(int number, int lines) {
  std::string text = "// Writes the numbers of the list " + std::to_string(number) + ".\n__global__ void k" +
                     std::to_string(number) + "(int* p) {\n";
  for (int i = 0; i < lines; ++i)
    text += "  p[" + std::to_string(i) + "] = " + std::to_string(number * 1000 + i * i) + ";\n";
  return text + "}\n";
}

TEST(NearDuplicatesTest, CommentsAndSpacesDoNotCount) {
  NearDuplicates known;
  EXPECT_EQ(known.FindOrAdd(SignatureOf("int a = 1; // one\n")), std::nullopt);
  EXPECT_EQ(known.FindOrAdd(SignatureOf("int  a=1;\n/* two */")), 0u);
  EXPECT_EQ(known.FindOrAdd(SignatureOf("int b = 2;")), std::nullopt);
  EXPECT_EQ(known.FindOrAdd(SignatureOf("")), std::nullopt);
  EXPECT_EQ(known.FindOrAdd(SignatureOf("int b = 2;")), 1u);
}

// Texts of n numbers of which `changed` differ. A change of one number changes five runs of five.
std::string NumberText(int n, int changed) {
  std::string text;
  for (int i = 0; i < n; ++i) text += std::to_string(i < changed ? 100000 + 17 * i : i) + " ";
  return text;
}

TEST(NearDuplicatesTest, LikenessIsThatOfTheTexts) {
  const TextSignature whole = SignatureOf(NumberText(1000, 0));
  EXPECT_EQ(Likeness(whole, whole), 1);
  EXPECT_NEAR(Likeness(whole, SignatureOf(NumberText(1000, 500))), 0.33, 0.15);
  EXPECT_LT(Likeness(whole, SignatureOf(NumberText(1000, 1000))), 0.1);
}

TEST(NearDuplicatesTest, NearOnesAreFoundAndOthersAreNot) {
  NearDuplicates known;
  EXPECT_EQ(known.FindOrAdd(SignatureOf(NumberText(1000, 0))), std::nullopt);
  EXPECT_EQ(known.FindOrAdd(SignatureOf(NumberText(1000, 20))), 0u);
  EXPECT_EQ(known.FindOrAdd(SignatureOf(NumberText(1000, 500))), std::nullopt);
}

class CleanTest : public testing::Test {
 protected:
  fs::path Path(const std::string& name) const { return folder_.path() / name; }
  // Six shards of three files each, every third file nearly the one before.
  void WriteFiles() const {
    for (int shard = 0; shard < 6; ++shard) {
      SnippetShard files{.origin = "a test"};
      for (int i = 0; i < 3; ++i)
        files.snippets.push_back({.text = KernelText(shard * 2 + std::min(i, 1), 60) + (i == 2 ? "// end\n" : ""),
                                  .source = "s",
                                  .path = "a.cu",
                                  .license = "MIT"});
      ASSERT_TRUE(WriteSnippets(files, Path("files") / TextShardName(shard)).ok());
    }
  }
  Result<CleanSummary> Clean(const std::string& output, std::function<bool()> stop = nullptr) const {
    return CleanTexts(Path("files"), Path(output), std::move(stop), nullptr);
  }
  std::string BytesOf(const std::string& output) const {
    std::string bytes;
    const std::vector<fs::path> shards = *TextShardsAt(Path(output));
    for (const fs::path& shard : shards) bytes += *ReadFile(shard);
    return bytes;
  }

  const TemporaryFolder folder_ = *TemporaryFolder::Create("clean");
};

TEST_F(CleanTest, SnippetsStandOnce) {
  WriteFiles();
  const Result<CleanSummary> summary = Clean("out");
  ASSERT_TRUE(summary.ok()) << summary.status().message();
  EXPECT_EQ(summary->stage.read, 18);
  EXPECT_EQ(summary->stage.texts, 12);
  EXPECT_EQ(summary->with_instruction, 12);
  EXPECT_EQ(summary->duplicates, 6);
  const SnippetShard first = *ReadSnippets(Path("out") / TextShardName(0));
  ASSERT_EQ(first.snippets.size(), 2u);
  EXPECT_EQ(first.snippets[0].instruction, "Writes the numbers of the list 0.");
}

TEST_F(CleanTest, AStoppedRunGoesOnToTheSameBytes) {
  WriteFiles();
  ASSERT_TRUE(Clean("whole").ok());
  int shards = 0;
  const Result<CleanSummary> stopped = Clean("parts", [&] { return ++shards > 2; });
  ASSERT_TRUE(stopped.ok());
  EXPECT_FALSE(stopped->stage.is_whole());
  const Result<CleanSummary> rest = Clean("parts");
  EXPECT_TRUE(rest->stage.is_whole());
  EXPECT_EQ(rest->stage.found, 4);
  EXPECT_EQ(BytesOf("parts"), BytesOf("whole"));
}

TEST_F(CleanTest, OtherFilesNeedAnotherFolder) {
  WriteFiles();
  ASSERT_TRUE(Clean("out").ok());
  ASSERT_TRUE(WriteSnippets({.origin = "another", .snippets = {}}, Path("files") / TextShardName(0)).ok());
  EXPECT_EQ(Clean("out").status().code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(Clean("files").status().code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(CleanTexts(Path("none"), Path("x"), nullptr, nullptr).status().code(), StatusCode::kNotFound);
}

TEST_F(CleanTest, TextsWithoutMessagesAreRefused) {
  const TextExample example{.prompt = "p", .text = "t", .plan = "d", .problem = "g"};
  ASSERT_TRUE(WriteTextShard({.origin = "corpus flat", .examples = {example}}, Path("files/texts_00000.jsonl")).ok());
  const Status status = Clean("out").status();
  EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
  EXPECT_NE(status.message().find("texts_00000.jsonl:2: no text of corpus collect"), std::string::npos)
      << status.message();
}

}  // namespace
}  // namespace gemmsmith
