// Wrong words on the command line: one clear line each, and exit code 2.
#include <gtest/gtest.h>

#include "base/text.h"
#include "tests/end_to_end/program.h"

namespace gemmsmith {
namespace {

struct WrongWords {
  Words words;
  std::string part;  // of the message
};

class WrongWordsTest : public testing::TestWithParam<WrongWords> {};

TEST_P(WrongWordsTest, IsOneLineWithTheNearestRightWord) {
  const Finished finished = Home().Run(GetParam().words);
  ExpectOneError(finished, 2, GetParam().part);
  EXPECT_EQ(finished.out, "");
}

INSTANTIATE_TEST_SUITE_P(
    Verbs, WrongWordsTest,
    testing::Values(WrongWords{{}, "gemmsmith optimize 256x512x4096"}, WrongWords{{"optimise", "1x1x1"}, "'optimize'"},
                    WrongWords{{"zzzzzz"}, "there are optimize, evaluate, "},
                    WrongWords{{"256x512x4096"}, "'gemmsmith optimize 256x512x4096'"}, WrongWords{{""}, "is no verb"},
                    WrongWords{{"plan"}, "check, list, emit, explain, facts"}, WrongWords{{"plan", "emitt"}, "'emit'"},
                    WrongWords{{"records"}, "import, export, list, stats, pairs, compare, measure"},
                    WrongWords{{"records", "exprot"}, "'export'"}, WrongWords{{"doctor", "now"}, "'now'"},
                    WrongWords{{"--optimize"}, "did you mean 'optimize'?"}));

INSTANTIATE_TEST_SUITE_P(
    Flags, WrongWordsTest,
    testing::Values(
        WrongWords{{"optimize", "8x8x8", "--budgt-evals", "3"}, "'--budget-evals'"},
        WrongWords{{"optimize", "8x8x8", "--budget-evals"}, "--budget-evals needs a value"},
        WrongWords{{"optimize", "8x8x8", "--budget-evals", "0"}, "'0' is not a whole number"},
        WrongWords{{"optimize", "8x8x8", "--budget-evals", "1e3"}, "'1e3'"},
        WrongWords{{"optimize", "8x8x8", "--budget-seconds", "-1"}, "'-1'"},
        WrongWords{{"optimize", "8x8x8", "--brief", "--objective", "energy"}, "--brief decides by time"},
        WrongWords{{"optimize", "8x8x8", "--budget-seconds", "nan"}, "'nan'"},
        WrongWords{{"optimize", "8x8x8", "--seed", "1", "--seed", "2"}, "more than once"},
        WrongWords{{"optimize", "8x8x8", "--seed", "18446744073709551616"}, "not a whole number"},
        WrongWords{{"optimize", "8x8x8", "--layout", "nt"}, "layout"},
        WrongWords{{"optimize", "8x8x8", "--type", "fp16"}, "'f16'"},
        WrongWords{{"optimize", "8x8x8", "--accumulate", "f64"}, "there are f32 and f16"},
        WrongWords{{"optimize", "8x8x8", "--type", "bf16", "--accumulate", "f16"}, "goes with --type f16"},
        WrongWords{{"bench", "--shapes", "8x8x8", "--type", "bf16", "--accumulate", "f16"}, "goes with --type f16"},
        WrongWords{{"report", "--type", "bf16", "--accumulate", "f16"}, "goes with --type f16"},
        WrongWords{{"records", "compare", "x.csv", "--type", "bf16", "--accumulate", "f16"}, "goes with --type f16"},
        WrongWords{{"optimize", "8x8x8", "--proposer", "evolve"},
                   "there are random, ranked, local, evolution, bayes, nvmmh, policy and llm"},
        WrongWords{{"optimize", "8x8x8", "--documents", "x"}, "--documents is for --proposer llm"},
        WrongWords{{"optimize", "8x8x8", "--proposer", "local", "--hold-out", "512"},
                   "there is none: --experience FILE"},
        WrongWords{{"optimize", "8x8x8", "--proposer", "local", "--weights", "x"},
                   "--weights is for --proposer policy"},
        WrongWords{{"train"}, "train needs --output"},
        WrongWords{{"train", "--output", "x", "--on", "gpu"}, "'gpu' is nothing to train on: cpu, cuda (every GPU)"},
        WrongWords{{"train", "--output", "x", "--on", "cuda:0,cuda:0"}, "'cuda:0,cuda:0' is nothing to train on: "},
        WrongWords{{"train", "--output", "x", "--on", "cuda:0,"}, "'cuda:0,' is nothing to train on: "},
        WrongWords{{"train", "--output", "x", "--hold-out", "64,"}, "'' is not what shapes are held out by"},
        WrongWords{{"corpus", "flatt"}, "did you mean 'flat'?"},
        WrongWords{{"corpus", "flat", "--output", "x"}, "corpus flat needs --shapes"},
        WrongWords{{"corpus", "flat", "--shapes", "paper100", "--output", "x"}, "did you mean 'paper1000'?"},
        WrongWords{{"corpus", "flat", "--shapes", "8x8x8", "--output", "x", "--count", "0"}, "'0' is not a whole"},
        WrongWords{{"corpus", "flat", "--shapes", "8x8x8", "--output", "x", "--hold-out", "a"}, "'a' is not what"},
        WrongWords{{"corpus", "tokenizer", "--output", "x"}, "corpus tokenizer needs FILE"},
        WrongWords{{"corpus", "train", "x", "--output", "y"}, "corpus train needs --tokenizer"},
        WrongWords{{"corpus", "sample", "--output", "y", "--shapes", "8x8x8"}, "corpus sample needs MODEL"},
        WrongWords{{"corpus", "sample", "m", "--output", "y", "--shapes", "8x8x8"}, "corpus sample needs --tokenizer"},
        WrongWords{{"corpus", "sample", "--proposer", "llm"}, "'llm'"},
        WrongWords{{"corpus", "sample", "m", "-o", "y", "--shapes", "8x8x8", "--proposer", "ranked"}, "takes no MODEL"},
        WrongWords{{"corpus", "sample", "-o", "y", "--shapes", "8x8x8", "--proposer", "policy", "--bf16"},
                   "--bf16 goes without --proposer"},
        WrongWords{{"corpus", "sample", "m", "--top-p", "0"}, "--top-p"},
        WrongWords{{"corpus", "judge"}, "corpus judge needs FILE"},
        WrongWords{{"corpus", "novel"}, "corpus novel needs FILE"},
        WrongWords{{"corpus", "compare"}, "corpus compare needs FILE"},
        WrongWords{{"corpus", "reinforce", "m", "--tokenizer", "t"}, "corpus reinforce needs --shapes"},
        WrongWords{{"corpus", "tokenizer", "x", "--output", "y", "--words", "258"}, "'258'"},
        WrongWords{{"corpus", "collect", "--output", "y"}, "corpus collect needs FILE"},
        WrongWords{{"corpus", "collect", "x", "--output", "y", "--licenses", "MIT,"}, "'' is no licence"},
        WrongWords{{"corpus", "clean", "x"}, "corpus clean needs --output"},
        WrongWords{{"corpus", "instruct", "x", "--output", "y", "--cassette", "z", "--model", "m"},
                   "it names its model"},
        WrongWords{{"corpus", "retrieve", "x"}, "--output DIR or --query WORDS"},
        WrongWords{{"compare", "--repeats", "3"}, "--repeats goes with --recompute"},
        WrongWords{{"compare", "--policy", "policy=x"}, "--policy goes with --recompute"},
        WrongWords{{"compare", "x.gtr", "--recompute"}, "not both"},
        WrongWords{{"compare", "--recompute", "--repeats", "0"}, "'0' is not a whole number"},
        WrongWords{{"compare", "--recompute", "--repeats", "10001"}, "--repeats takes 10,000 at most"},
        WrongWords{{"compare", "--recompute", "--contenders", "randm"}, "did you mean 'random'?"},
        WrongWords{{"compare", "--recompute", "--contenders", "polici"}, "did you mean 'policy'?"},
        WrongWords{{"compare", "--recompute", "--contenders", "random,"}, "has an empty name"},
        WrongWords{{"compare", "--recompute", "--policy", "x.safetensors"}, "is not NAME=WEIGHTS"},
        WrongWords{{"compare", "--recompute", "--policy", "local=x"}, "'local' is a search's name"},
        WrongWords{{"compare", "--recompute", "--policy", "a=x", "--policy", "a=y"}, "--policy names 'a' twice"},
        WrongWords{{"compare", "--recompute", "--hold-out", "off"}, "'off' is not what shapes are held out by"},
        WrongWords{{"compare", "--recompute", "--shapes", "heldot"}, "did you mean 'heldout'?"},
        WrongWords{{"train", "--output", "x", "--learning-rate", "nan"}, "'nan' is no learning rate"},
        WrongWords{{"train", "--output", "x", "--stage", "pre"}, "there are pretrain, imitate and rl"},
        WrongWords{{"train", "--output", "x", "--from", "y"}, "--from goes with --stage imitate or rl"},
        WrongWords{{"train", "--output", "x", "--without", "masks"}, "'masks' is no part to train without"},
        WrongWords{{"train", "--output", "x", "--without", "mask"}, "--without mask goes with --stage rl"},
        WrongWords{{"optimize", "8x8x8", "--device", "gpu:x"}, "gpu:N"},
        WrongWords{{"optimize", "8x8x8", "--device", "../../etc"}, "'../../etc' is no device"},
        WrongWords{{"optimize", "8x8x8", "--resume", "--fresh"}, "exclude each other"},
        WrongWords{{"optimize", "8x8x8", "--name", "x", "--fresh"}, "exclude each other"},
        WrongWords{{"optimize", "8x8x8", "--limit-seconds", "0"}, "'0'"},
        WrongWords{{"optimize", "8x8x8", "--catalogue", "x"}, "--catalogue goes with --promote"},
        WrongWords{{"promote", "--shapes", "paper100"}, "did you mean 'paper1000'?"},
        WrongWords{{"promote", "now"}, "takes no further word"},
        WrongWords{{"report", "--model", "llama-3-7b"}, "did you mean 'llama-3-8b'?"},
        WrongWords{{"report", "--models", "--shapes", "paper1000"}, "leave out --shapes"},
        WrongWords{{"report", "--models", "--summary"}, "exclude each other"},
        WrongWords{{"optimize", "paper100"}, "did you mean 'paper1000'?"},
        WrongWords{{"optimize", "paper1000/tiny,"}, "'paper1000/tiny'"},
        WrongWords{{"optimize", "no_such_file.txt"}, "or a named set, or a file"},
        WrongWords{{"optimize", "8x8x8", "--archive", ""}, "empty path"},
        WrongWords{{"optimize", "8x8x8", "9x9x9"}, "takes no further word"},
        WrongWords{{"optimize"}, "optimize needs SHAPE"}, WrongWords{{"evaluate", "direct"}, "evaluate needs SHAPE"},
        WrongWords{{"evaluate", "direct", "8x8x8", "--protocol", "shrt"}, "'short'"},
        WrongWords{{"evaluate", "dirct", "8x8x8"}, "starts with its family"},
        WrongWords{{"evaluate", "no_such_kernel.cu", "8x8x8"}, "no_such_kernel.cu"},
        WrongWords{{"evaluate", "direct", "8x8x8", "--verify"}, "no flag '--verify'"},
        WrongWords{{"verify"}, "verify needs PLAN"}, WrongWords{{"verify", "direct"}, "verify needs SHAPE"},
        WrongWords{{"verify", "direct", "8x8"}, "is not a shape"},
        WrongWords{{"verify", "dirct", "8x8x8"}, "starts with its family"},
        WrongWords{{"verify", "direct", "8x8x8", "--tests", "cancelation"}, "there are binary, relative"},
        WrongWords{{"verify", "direct", "8x8x8", "--winners"}, "not both"},
        WrongWords{{"verify", "--winners", "--pairs", "x"}, "exclude each other"},
        WrongWords{{"verify", "--winners", "--again"}, "--again is for --catalogue"},
        WrongWords{{"verify", "--winners", "--tests", "binary"}, "certified by all tests"},
        WrongWords{{"verify", "--self-test", "--limit-seconds", "5"}, "--limit-seconds is not for --self-test"},
        WrongWords{{"verify", "--self-test", "--seed", "5"}, "--seed is not for --self-test"},
        WrongWords{{"records", "export"}, "needs --output"},
        WrongWords{{"records", "export", "--output", "x.txt"}, ".gsr, .jsonl and .csv"},
        WrongWords{{"records", "measure", "--shapes", "offgrid", "--plans", "all"}, "needs --output"},
        WrongWords{{"records", "measure", "--shapes", "offgrid", "--plans", "all", "-o", "x.gsr", "--protocol", "long"},
                   "there are screen and short"},
        WrongWords{{"records", "measure", "--shapes", "offgrid", "--plans", "all", "-o", "x.gsr", "--protocol", "short",
                    "--finalists", "2"},
                   "--finalists judges again what was screened"},
        WrongWords{{"bench", "--shapes", "8x8x8", "--protocol", "lon"}, "'long'"},
        WrongWords{{"bench", "--shapes", "8x8x8", "--protocol", "screen"}, "there are short and long"},
        WrongWords{{"records", "import"}, "needs FILE"}, WrongWords{{"worker"}, "needs --gpu"},
        WrongWords{{"once"}, "needs FILE"}));

class WrongShapeTest : public testing::TestWithParam<std::string> {};

TEST_P(WrongShapeTest, IsOneLineThatQuotesIt) {
  for (const char* verb : {"optimize", "plan list"}) {
    Words words;
    for (const std::string_view word : SplitWords(verb)) words.emplace_back(word);
    words.push_back(GetParam());
    ExpectOneError(Home().Run(words), 2, "is not a shape");
  }
}

INSTANTIATE_TEST_SUITE_P(Shapes, WrongShapeTest,
                         testing::Values("0x1x1", "1x2", "1x2x3x4", "1e3x2x2", "-1x2x3", "1x-2x3", "x", "1xx1", "",
                                         "99999999999999999999x1x1", "2147483648x1x1", "1.5x2x2", "１x２x３", "1×2×3",
                                         "8x8x8 ", "8x8x0x8", "8,8,8", "\x1b[31m8x8x8", "\xff\xfe"));

TEST(ShapeTest, OneThatFitsNoMemoryIsRefusedInWords) {
  ExpectOneError(Home().Run({"plan", "list", "1073741824x1073741824x1"}), 2, "");
}

class WrongPlanTest : public testing::TestWithParam<WrongWords> {};

TEST_P(WrongPlanTest, IsOneLineWithTheNearestRightWord) {
  Words words = {"plan", "check"};
  words.push_back(GetParam().words.front());
  words.push_back("64x64x64");
  ExpectOneError(Home().Run(words), 2, GetParam().part);
}

INSTANTIATE_TEST_SUITE_P(
    Plans, WrongPlanTest,
    testing::Values(WrongWords{{""}, "empty"}, WrongWords{{"drect"}, "direct"},
                    WrongWords{{"direct tile_n=17"}, "tile_n"}, WrongWords{{"direct tile_q=16"}, "tile_"},
                    WrongWords{{"direct tile_m"}, "key=value"}, WrongWords{{"direct tile_m=16 tile_m=16"}, "twice"},
                    WrongWords{{"direct tile_m=99999999999999999999"}, "tile_m"},
                    WrongWords{{"direct tile_m=\x01"}, "tile_m"}, WrongWords{{std::string(100000, 'a')}, "family"}));

class HelpTest : public testing::TestWithParam<std::string> {};

TEST_P(HelpTest, FitsAHundredColumnsAndExitsWithZero) {
  Words words;
  for (const std::string_view word : SplitWords(GetParam())) words.emplace_back(word);
  words.push_back("--help");
  const Finished finished = Home().Run(words);
  EXPECT_EQ(finished.exit_code, 0);
  EXPECT_EQ(finished.error, "");
  EXPECT_NE(finished.out.find("Usage: gemmsmith"), std::string::npos) << finished.out;
  for (const std::string_view line : Split(finished.out, '\n')) EXPECT_LE(line.size(), 100u) << line;
}

INSTANTIATE_TEST_SUITE_P(Verbs, HelpTest,
                         testing::Values("", "optimize", "evaluate", "verify", "plan", "plan check", "plan list",
                                         "plan emit", "plan explain", "plan facts", "records", "records import",
                                         "records export", "records list", "records stats", "records pairs",
                                         "records compare", "records measure", "promote", "catalogue", "catalogue show",
                                         "catalogue find", "catalogue build", "catalogue general", "train", "compare",
                                         "corpus", "corpus flat", "corpus tokenizer", "corpus train", "corpus sample",
                                         "corpus shrink", "corpus judge", "corpus novel", "corpus compare",
                                         "corpus reinforce", "corpus collect", "corpus clean", "corpus instruct",
                                         "corpus retrieve", "corpus stats", "doctor"));

TEST(HelpTest, DoesNotShowWhatOnlyTheProgramItselfStarts) {
  const std::string help = Home().Run({"--help"}).out;
  for (const char* verb : {"worker", "compiler", "once"}) EXPECT_EQ(help.find(verb), std::string::npos) << verb;
}

TEST(VersionTest, IsOneLine) {
  const Finished finished = Home().Run({"--version"});
  EXPECT_EQ(finished.exit_code, 0);
  EXPECT_TRUE(finished.out.starts_with("gemmsmith ")) << finished.out;
}

}  // namespace
}  // namespace gemmsmith
