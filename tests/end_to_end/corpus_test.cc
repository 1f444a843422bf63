// gemmsmith corpus: texts and their tokens, and refusals.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <sstream>

#include "tests/end_to_end/program.h"

namespace gemmsmith {
namespace {

class CorpusTest : public testing::Test {
 protected:
  Finished Flat(const std::string& shapes, const std::string& count) const {
    return home.Run({"corpus", "flat", "--shapes", shapes, "--hold-out", "512", "--count", count, "-o", texts});
  }
  Finished Tokenize(const std::string& from) const {
    return home.Run({"corpus", "tokenizer", from, "--words", "300", "-o", home.Path("t.json")});
  }

  Home home;
  const std::string texts = home.Path("texts");
};

TEST_F(CorpusTest, TextsBecomeTokens) {
  const Finished made = Flat("64x64x64,512x64x64", "20");
  ASSERT_EQ(made.exit_code, 0) << made.error;
  EXPECT_TRUE(made.out.starts_with("20 texts of ")) << made.out;
  EXPECT_NE(made.out.find("on 2 problems"), std::string::npos) << made.out;  // two layouts of one shape
  const Finished again = Flat("64x64x64,512x64x64", "20");
  EXPECT_NE(again.out.find("; 20 were there"), std::string::npos) << again.out;
  const Finished tokens = Tokenize(texts);
  ASSERT_EQ(tokens.exit_code, 0) << tokens.error;
  EXPECT_TRUE(tokens.out.starts_with("300 tokens from 20 texts; a kernel has ")) << tokens.out;
  EXPECT_EQ(Parsed(*ReadFile(home.Path("t.json")))["model"]["vocab"].size(), 300u);
}

TEST_F(CorpusTest, EveryOtherPromptShowsKernelsUnlessToldOtherwise) {
  const auto prompts_showing = [&](const char* contrast) {
    const std::string folder = home.Path(contrast);
    const Finished made =
        home.Run({"corpus", "flat", "--shapes", "64x64x64", "--count", "20", "--contrast", contrast, "-o", folder});
    EXPECT_EQ(made.exit_code, 0) << made.error;
    int showing = 0;
    std::istringstream lines(*ReadFile(folder + "/texts_00000.jsonl"));
    for (std::string line; std::getline(lines, line);)
      showing += line.find("// kernel 2: ") != std::string::npos ? 1 : 0;
    return showing;
  };
  EXPECT_EQ(prompts_showing("0"), 0);
  const int showing = prompts_showing("2");
  EXPECT_GT(showing, 2);
  EXPECT_LT(showing, 18);
  ExpectOneError(home.Run({"corpus", "flat", "--shapes", "64x64x64", "--contrast", "1", "-o", texts}), 2,
                 "'1' is neither 2 nor 0");
}

TEST_F(CorpusTest, PlansOfAProposerBecomeSamples) {
  const std::string kernels = home.Path("kernels");
  const Finished made =
      home.Run({"corpus", "sample", "--proposer", "ranked", "--shapes", "64x64x64", "--count", "3", "-o", kernels});
  ASSERT_EQ(made.exit_code, 0) << made.error;
  EXPECT_TRUE(made.out.starts_with("3 kernels of plans of family direct\n")) << made.out;
  EXPECT_NE(ReadFile(kernels + "/kernel_00002.cu")->find("// gemm 64x64x64 nn f16 f32, by the plan"),
            std::string::npos);
  EXPECT_NE(ReadFile(kernels + "/samples.jsonl")->find("kernel_00002.cu"), std::string::npos);
  ExpectOneError(
      home.Run({"corpus", "sample", home.File("w", ""), "--proposer", "policy", "--shapes", "64x64x64", "-o", kernels}),
      1, "/w");
}

TEST_F(CorpusTest, AKernelThatNoPlanHasIsNovel) {
  const std::string kernels = home.Path("kernels"), first = kernels + "/kernel_00000.cu";
  ASSERT_EQ(home.Run({"corpus", "sample", "--proposer", "ranked", "--shapes", "64x64x64", "--layouts", "nn", "--count",
                      "3", "-o", kernels})
                .exit_code,
            0);
  ASSERT_TRUE(WriteFileAtomic(first, *ReadFile(first) + "int more;\n").ok());
  ExpectOneError(home.Run({"corpus", "novel", kernels}), 3, "judged.jsonl: No such file or directory");
  std::string lines;
  for (const char* outcome : {"measured", "measured", "wrong"})
    lines +=
        fmt::format("{{\"file\":\"a.cu\",\"problem\":\"gemm 64x64x64 nn f16 f32\",\"outcome\":\"{}\"}}\n", outcome);
  ASSERT_TRUE(WriteFileAtomic(kernels + "/judged.jsonl", lines).ok());
  const Finished done = home.Run({"corpus", "novel", kernels});
  ASSERT_EQ(done.exit_code, 0) << done.error;
  EXPECT_TRUE(done.out.starts_with("1 of 2 right kernels are novel")) << done.out;
  const std::string marked = *ReadFile(kernels + "/judged.jsonl");
  EXPECT_LT(marked.find("\"novel\":true"), marked.find("\"novel\":false"));
  EXPECT_NE(home.Run({"corpus", "compare", kernels}).out.find("50.0 %"), std::string::npos);
  ExpectOneError(home.Run({"corpus", "judge", kernels, "--final", "--device", "h100"}), 3, "kernels are timed: ");
}

TEST_F(CorpusTest, JudgedKernelsOfTwoModelsAreCompared) {
  const auto line = [](const char* outcome, double speed_up) {
    return fmt::format(
        "{{\"file\":\"a.cu\",\"problem\":\"gemm 64x64x64 nn f16 f32\",\"outcome\":\"{}\",\"speed_up\":{}}}\n", outcome,
        speed_up);
  };
  const std::string before = home.File("before.jsonl", line("measured", 0.5) + line("wrong", 0));
  const std::string after = home.File("after.jsonl", line("measured", 0.6) + line("measured", 0.4));
  const Finished done = home.Run({"corpus", "compare", before, after});
  ASSERT_EQ(done.exit_code, 0) << done.error;
  EXPECT_NE(done.out.find("50.0 %"), std::string::npos) << done.out;
  EXPECT_NE(done.out.find("2.000 [2.000, 2.000]"), std::string::npos) << done.out;  // 0.5 over 0.25
  const std::string other =
      home.File("other.jsonl", "{\"file\":\"a.cu\",\"problem\":\"gemm 8x8x8 nn f16 f32\",\"outcome\":\"wrong\"}\n");
  ExpectOneError(home.Run({"corpus", "compare", before, other}), 2, "written for different problems");
  ExpectOneError(home.Run({"corpus", "compare", home.Path("none")}), 3, "none: No such file or directory");
}

TEST_F(CorpusTest, HostileInputIsOneLine) {
  ExpectOneError(Flat("512x64x64", "5"), 3, "every shape of '512x64x64' is held out");
  ExpectOneError(Tokenize(home.Path("none")), 3, "none: No such file or directory");
  ExpectOneError(Tokenize(home.File("other.txt", "hello\n")), 1, "other.txt:1: the line is no JSON object");
  ExpectOneError(home.Run({"corpus", "judge", home.Path("none")}), 3, "none/samples.jsonl: No such file or directory");
  ASSERT_EQ(Flat("64x64x64", "5").exit_code, 0);
  ExpectOneError(Flat("128x64x64", "5"), 2, "is of other texts (corpus flat --shapes 64x64x64 ");
  const std::string shard = *ReadFile(texts + "/texts_00000.jsonl");
  const std::string half = home.File("half.jsonl", shard.substr(0, shard.size() / 2));
  ExpectOneError(Tokenize(half), 1, "half.jsonl:");
  const Finished full = home.Run({"corpus", "tokenizer", texts, "-o", "/dev/full"});
  ExpectOneError(full, 1, "cannot write /dev/full: No space left on device");
}

class CorpusDataTest : public testing::Test {
 protected:
  CorpusDataTest() {
    WriteInTree("LICENSE", "Permission is hereby granted, free of charge");
    WriteInTree("k.cu",
                "// Adds one to each element.\n__global__ void k(int* p) {\n  int i = 1;\n  p[i] += 1;\n}\n\n"
                "void plain(int n) {\n  int j = n;\n  j += 1;\n}\n");
  }
  void WriteInTree(const std::string& name, const std::string& content) const {
    EXPECT_TRUE(WriteFileAtomic(std::filesystem::path(tree) / name, content).ok());
  }
  Finished Collect(const std::string& source) const { return home.Run({"corpus", "collect", source, "-o", files}); }
  Finished Clean() const { return home.Run({"corpus", "clean", files, "-o", snippets}); }

  Home home;
  const std::string tree = home.Path("tree"), files = home.Path("files"), snippets = home.Path("snippets");
};

TEST_F(CorpusDataTest, FilesBecomeSnippetsThatTokensAreMadeOf) {
  const Finished collected = Collect(tree);
  ASSERT_EQ(collected.exit_code, 0) << collected.error;
  EXPECT_TRUE(collected.out.starts_with("1 file, ")) << collected.out;
  EXPECT_NE(Collect(tree).out.find("; 1 were there"), std::string::npos);
  const Finished cleaned = Clean();
  ASSERT_EQ(cleaned.exit_code, 0) << cleaned.error;
  EXPECT_TRUE(cleaned.out.starts_with("2 snippets from 1 file, 1 of them with an instruction; 0 duplicates dropped\n"))
      << cleaned.out;
  const Finished stats = home.Run({"corpus", "stats", snippets, "--json"});
  const nlohmann::json groups = Parsed(stats.out)["groups"];
  ASSERT_EQ(groups.size(), 2u);
  EXPECT_EQ(groups[1]["kind"], "kernel");
  EXPECT_EQ(groups[1]["instruction_by"], "comment");
  EXPECT_EQ(groups[1]["license"], "MIT");
  EXPECT_NE(home.Run({"corpus", "stats", snippets}).out.find("kernel"), std::string::npos);
  EXPECT_EQ(home.Run({"corpus", "tokenizer", snippets, "--words", "262", "-o", home.Path("t.json")}).exit_code, 0);
}

TEST_F(CorpusDataTest, SnippetsBecomeTriplets) {
  WriteInTree("page.md", "# Adding\nEach element of an array is added to by one thread, in the order of the array.\n");
  ASSERT_EQ(Collect(tree).exit_code, 0);
  ASSERT_EQ(Clean().exit_code, 0);
  const std::string triplets = home.Path("triplets");
  const Finished made = home.Run({"corpus", "retrieve", snippets, "-o", triplets});
  EXPECT_TRUE(made.out.starts_with("1 triplet from 3 texts, 2 without an instruction; 3 passages\n")) << made.out;
  const std::string shard = *ReadFile(triplets + "/texts_00000.jsonl");
  const nlohmann::json messages = Parsed(shard.substr(shard.find('\n') + 1))["messages"];
  ASSERT_EQ(messages.size(), 3u);
  EXPECT_TRUE(messages[0]["content"].get<std::string>().starts_with("### Adding (tree/page.md:2)\n"));
  EXPECT_EQ(messages[1]["content"], "Adds one to each element.");
  const Finished asked = home.Run({"corpus", "retrieve", snippets, "--query", "array of threads"});
  EXPECT_NE(asked.out.find("### Adding"), std::string::npos) << asked.out;
  ExpectOneError(home.Run({"corpus", "retrieve", snippets, "--query", "zebra"}), 3, "no passage has a word of 'zebra'");
}

TEST_F(CorpusDataTest, InstructionsNeedAnEndpointOrACassette) {
  ASSERT_EQ(Collect(tree).exit_code, 0);
  ASSERT_EQ(Clean().exit_code, 0);
  const std::string texts = home.Path("instructed");
  ExpectOneError(home.Run({"corpus", "instruct", snippets, "-o", texts, "--endpoint", "http://127.0.0.1:9/v1"}), 3, "");
  ExpectOneError(home.Run({"corpus", "instruct", snippets, "-o", texts, "--cassette", home.Path("none")}), 3, "none");
  ExpectOneError(home.Run({"corpus", "instruct", snippets, "-o", texts, "--cassette", home.File("x.jsonl", "{}\n")}), 1,
                 "x.jsonl");
}

TEST_F(CorpusDataTest, QuestionsToAModelNeedSnippetsToQuote) {
  const auto write = [&](const std::string& documents) {
    return home.Run({"optimize", "64x64x64", "--proposer", "llm", "--documents", documents});
  };
  ExpectOneError(write(home.Path("none")), 3, "none: No such file or directory; name a folder that gemmsmith corpus");
  ExpectOneError(write(tree), 3, "tree has no shards of texts (*.jsonl); name a folder that gemmsmith corpus clean");
  const std::string header = R"({"gemmsmith_texts": 1, "origin": "a test", "texts": 0})";
  ExpectOneError(write(home.File("empty.jsonl", header + "\n")), 3, "empty.jsonl has no snippets; name a folder");
  ExpectOneError(write(home.File("half.jsonl", header.substr(0, 30))), 1, "half.jsonl:1: ");
}

TEST_F(CorpusDataTest, HostileInputIsOneLine) {
  ExpectOneError(Collect(home.Path("none")), 3, "none: no such tree, archive or page");
  ExpectOneError(Collect(home.File("notes.txt", "x")), 2, "notes.txt: no tree, archive");
  ExpectOneError(home.Run({"corpus", "collect", tree, "-o", "/dev/full"}), 1, "/dev/full");
  const Finished cut = Collect(home.File("cut.whl", "PK"));
  ExpectOneError(cut, 1, "1 source could not be read whole");
  EXPECT_NE(cut.error.find("cut.whl: no zip, or one without its end: load it again\n"), std::string::npos) << cut.error;
  ExpectOneError(Clean(), 3, "files has no shards of texts");
  ASSERT_EQ(Collect(tree).exit_code, 0);
  ASSERT_EQ(Clean().exit_code, 0);
  const std::string shard = *ReadFile(files + "/texts_00000.jsonl");
  ExpectOneError(home.Run({"corpus", "stats", home.File("half.jsonl", shard.substr(0, shard.size() / 2))}), 1,
                 "half.jsonl:2: ");
  ExpectOneError(home.Run({"corpus", "stats", snippets}, "/dev/full"), 1, "No space left on device");
}

}  // namespace
}  // namespace gemmsmith
