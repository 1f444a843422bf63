#include "corpus/retrieve/retrieve.h"

#include <gtest/gtest.h>

#include "base/files.h"
#include "base/scoped_variable.h"
#include "corpus/retrieve/passages.h"
#include "corpus/text_shards.h"

namespace gemmsmith {
namespace {

namespace fs = std::filesystem;

Snippet SnippetOn(const std::string& subject, SnippetKind kind, const std::string& path) {
  const bool is_section = kind == SnippetKind::kSection;
  return {.context = {},
          .instruction = is_section ? "" : "Writes the " + subject,
          .text = "text on " + subject + "\n",
          .instruction_by = is_section ? "" : std::string(kByComment),
          .kind = kind,
          .title = subject + "_name",
          .source = "s",
          .path = path,
          .license = "MIT"};
}

class RetrieveTest : public testing::Test {
 protected:
  RetrieveTest() {
    Snippet without = SnippetOn("swizzle", SnippetKind::kKernel, "e.cu");
    without.instruction.clear(), without.instruction_by.clear();
    const std::vector<Snippet> first = {SnippetOn("barrier", SnippetKind::kKernel, "a.cu"),
                                        SnippetOn("barrier", SnippetKind::kFunction, "b.cu"), without};
    Snippet other = SnippetOn("barrier", SnippetKind::kFunction, "c.cu");
    other.title = "wait";
    const std::vector<Snippet> second = {other, SnippetOn("barrier", SnippetKind::kSection, "d.md"),
                                         SnippetOn("softmax", SnippetKind::kSection, "d.md")};
    EXPECT_TRUE(WriteSnippets({.origin = "a test", .snippets = first}, Path("in") / TextShardName(0)).ok());
    EXPECT_TRUE(WriteSnippets({.origin = "a test", .snippets = second}, Path("in") / TextShardName(1)).ok());
  }
  fs::path Path(const std::string& name) const { return folder_.path() / name; }
  Result<RetrieveSummary> Retrieve(const std::string& output, std::function<bool()> stop = nullptr) const {
    return RetrieveContexts(Path("in"), "", Path(output), std::move(stop), nullptr);
  }

  const TemporaryFolder folder_ = *TemporaryFolder::Create("retrieve");
};

TEST_F(RetrieveTest, TripletsHaveASectionAndExamplesOfOthers) {
  const Result<RetrieveSummary> summary = Retrieve("out");
  ASSERT_TRUE(summary.ok()) << summary.status().message();
  EXPECT_EQ(summary->passages, 6u);
  EXPECT_EQ(summary->stage.texts, 3);
  EXPECT_EQ(summary->without_instruction, 3);
  const SnippetShard shard = *ReadSnippets(Path("out") / TextShardName(0));
  ASSERT_EQ(shard.snippets.size(), 2u);
  // Its own file, and code of its name, would tell the answer.
  EXPECT_EQ(
      shard.snippets[0].context,
      "### barrier_name (s/d.md:1)\ntext on barrier\n\n### wait (s/c.cu:1)\nWrites the barrier\ntext on barrier\n");
}

TEST_F(RetrieveTest, TrainingReadsContextAndInstructionAsThePrompt) {
  ASSERT_TRUE(Retrieve("out").ok());
  const TextShard shard = *ReadTextShard(Path("out") / TextShardName(0));
  EXPECT_TRUE(shard.examples[0].prompt.starts_with("### barrier_name (s/d.md:1)\n"));
  EXPECT_TRUE(shard.examples[0].prompt.ends_with("\nWrites the barrier\n"));
  EXPECT_EQ(shard.examples[0].text, "text on barrier\n");
}

TEST_F(RetrieveTest, AStoppedRunGoesOn) {
  int shards = 0;
  ASSERT_TRUE(Retrieve("out", [&] { return ++shards > 1; }).ok());
  const Result<RetrieveSummary> rest = Retrieve("out");
  EXPECT_EQ(rest->stage.found, 2);
  EXPECT_EQ(rest->stage.texts, 1);
  EXPECT_TRUE(rest->stage.is_whole());
}

TEST_F(RetrieveTest, OtherPassagesNeedAnotherFolder) {
  ASSERT_TRUE(Retrieve("out").ok());
  const Status status =
      RetrieveContexts(Path("in"), Path("in") / TextShardName(1), Path("out"), nullptr, nullptr).status();
  EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
  EXPECT_NE(status.message().find("is of other texts (corpus retrieve of "), std::string::npos);
}

TEST_F(RetrieveTest, PeopleAskToo) {
  const std::unique_ptr<Passages> passages = *Passages::Read(Path("in"));
  const std::vector<Passages::Found> found = *passages->Find("softmax?", 5);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].kind, SnippetKind::kSection);
  EXPECT_EQ(found[0].text, "### softmax_name (s/d.md:1)\ntext on softmax\n");
  EXPECT_EQ(found[0].license, "MIT");
  EXPECT_TRUE(passages->Find("", 5)->empty());
  EXPECT_EQ(passages->Find("barrier", 5)->size(), 4u);
  EXPECT_EQ(passages->Find("barrier", 5, [](SnippetKind kind) { return kind == SnippetKind::kSection; })->size(), 1u);
}

TEST_F(RetrieveTest, PassagesOfAnotherLicenceAreOthers) {
  const std::string before = (*Passages::Read(Path("in")))->fingerprint();
  SnippetShard shard = *ReadSnippets(Path("in") / TextShardName(1));
  EXPECT_EQ((*Passages::Read(Path("in")))->fingerprint(), before);
  shard.snippets[0].license = "Apache-2.0";
  ASSERT_TRUE(WriteSnippets(shard, Path("in") / TextShardName(1)).ok());
  EXPECT_NE((*Passages::Read(Path("in")))->fingerprint(), before);
}

TEST_F(RetrieveTest, AKilledRunLeavesNoTemporaryFile) {
  fs::create_directories(Path("tmp"));
  const ScopedVariable place("TMPDIR", Path("tmp").c_str());
  const std::unique_ptr<Passages> passages = *Passages::Read(Path("in"));
  EXPECT_TRUE(fs::is_empty(Path("tmp")));
  EXPECT_EQ(passages->Find("softmax", 1)->size(), 1u);
}

}  // namespace
}  // namespace gemmsmith
