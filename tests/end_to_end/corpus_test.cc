// gemmsmith corpus: texts and their tokens, and refusals.
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

TEST_F(CorpusTest, HostileInputIsOneLine) {
  ExpectOneError(Flat("512x64x64", "5"), 3, "every shape of '512x64x64' is held out");
  ExpectOneError(Tokenize(home.Path("none")), 3, "none: No such file or directory");
  ExpectOneError(Tokenize(home.File("other.txt", "hello\n")), 1, "other.txt:1: the line is no JSON object");
  ASSERT_EQ(Flat("64x64x64", "5").exit_code, 0);
  ExpectOneError(Flat("128x64x64", "5"), 2, "is of other texts (corpus flat --shapes 64x64x64 ");
  const std::string shard = *ReadFile(texts + "/texts_00000.jsonl");
  const std::string half = home.File("half.jsonl", shard.substr(0, shard.size() / 2));
  ExpectOneError(Tokenize(half), 1, "half.jsonl:");
  const Finished full = home.Run({"corpus", "tokenizer", texts, "-o", "/dev/full"});
  ExpectOneError(full, 1, "cannot write /dev/full: No space left on device");
}

}  // namespace
}  // namespace gemmsmith
