#include "corpus/tokenizer.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "base/files.h"
#include "base/random.h"

namespace gemmsmith {
namespace {

constexpr std::string_view kKernel =
    "__global__ void gemm_kernel(const u16* a, const u16* b, u16* c, int m, int n, int k) {\n"
    "  const int warp = threadIdx.x / 32;\n  const int lane = threadIdx.x % 32;\n"
    "  for (int i = 0; i < 1024; ++i) {\n    sums[i] += a[i] * b[i];\n    sums[i] += a[i];\n  }\n}\n";

Tokenizer Trained(int words = 400) {
  PieceCounts pieces;
  pieces.Add(kKernel);
  pieces.Add(kKernel);
  return Tokenizer::Train(pieces, words);
}

std::string RandomBytes(size_t size, Random& random) {
  std::string bytes(size, '\0');
  for (char& byte : bytes) byte = char(random.Next());
  return bytes;
}

Tokenizer OfText(std::string_view text, int merges) {
  PieceCounts pieces;
  pieces.Add(text);
  return Tokenizer::Train(pieces, Tokenizer::kFewestWords + merges);
}

std::string TextOf(const Tokenizer& tokenizer, int32_t token) { return tokenizer.Decode(std::span(&token, 1)); }

TEST(TokenizerTest, TheMostFrequentPairIsMergedFirst) {
  const Tokenizer tokenizer = OfText("xy xy xy abc abc", 3);
  EXPECT_EQ(TextOf(tokenizer, 259), "xy");  // three times
  EXPECT_EQ(TextOf(tokenizer, 260), " a");  // twice, as others are
  EXPECT_EQ(TextOf(tokenizer, 261), " xy");
}

TEST(TokenizerTest, TiesGoToTheSmallerTokens) {
  const Tokenizer tokenizer = OfText("zz\nbb\nzz\nbb\n", 2);
  EXPECT_EQ(TextOf(tokenizer, 259), "bb");
  EXPECT_EQ(TextOf(tokenizer, 260), "zz");
}

// The pairs of all pieces counted anew for each merge.
TEST(TokenizerTest, TrainingIsThatOfTheSlowWay) {
  Random random(7);
  for (int round = 0; round < 20; ++round) {
    std::string text;
    for (int i = 0; i < 300; ++i) text += "aab_c \n;"[random.Below(8)];
    PieceCounts pieces;
    pieces.Add(text);
    const Tokenizer tokenizer = Tokenizer::Train(pieces, 300);
    std::vector<std::pair<std::vector<std::string>, int64_t>> slow;
    for (const auto& [piece, count] : pieces.counts()) {
      slow.emplace_back(std::vector<std::string>(), count);
      for (const char c : piece) slow.back().first.emplace_back(1, c);
    }
    std::vector<std::string> order;  // texts by token
    for (int byte = 0; byte < 256; ++byte) order.emplace_back(1, char(byte));
    const auto token_of = [&](const std::string& part) {
      return std::find(order.begin(), order.end(), part) - order.begin();
    };
    while (int(order.size()) < 300 - Tokenizer::kSpecials) {
      std::map<std::pair<int64_t, int64_t>, int64_t> pairs;
      for (const auto& [parts, count] : slow)
        for (size_t i = 0; i + 1 < parts.size(); ++i) pairs[{token_of(parts[i]), token_of(parts[i + 1])}] += count;
      auto best = pairs.end();
      for (auto pair = pairs.begin(); pair != pairs.end(); ++pair)
        if (pair->second >= 2 && (best == pairs.end() || pair->second > best->second)) best = pair;
      if (best == pairs.end()) break;
      const std::string left = order[size_t(best->first.first)], right = order[size_t(best->first.second)];
      if (token_of(left + right) == std::ssize(order)) order.push_back(left + right);
      for (auto& [parts, count] : slow)
        for (size_t i = 0; i + 1 < parts.size(); ++i)
          if (parts[i] == left && parts[i + 1] == right) parts[i] += right, parts.erase(parts.begin() + long(i) + 1);
    }
    ASSERT_EQ(tokenizer.words(), int(order.size()) + Tokenizer::kSpecials);
    for (int32_t token = Tokenizer::kSpecials; token < tokenizer.words(); ++token)
      ASSERT_EQ(TextOf(tokenizer, token), order[size_t(token - Tokenizer::kSpecials)]);
  }
}

TEST(TokenizerTest, DecodeIsTheInverseOfEncodeForAnyBytes) {
  const Tokenizer tokenizer = Trained();
  Random random(3);
  for (int i = 0; i < 500; ++i) {
    std::string text = RandomBytes(random.Below(60), random);
    text.insert(random.Below(text.size() + 1), kKernel.substr(random.Below(kKernel.size()), random.Below(60)));
    ASSERT_EQ(tokenizer.Decode(tokenizer.Encode(text)), text);
  }
  for (int byte = 0; byte < 256; ++byte) {
    const std::string text(3, char(byte));
    EXPECT_EQ(tokenizer.Decode(tokenizer.Encode(text)), text);
  }
}

TEST(TokenizerTest, AKernelTakesFewTokensAndNoSpecialOne) {
  const Tokenizer tokenizer = Trained();
  const std::vector<int32_t> tokens = tokenizer.Encode(kKernel);
  EXPECT_LT(tokens.size(), kKernel.size() / 3);
  for (const int32_t token : tokenizer.Encode("<|begin|><|answer|><|end|>")) EXPECT_GE(token, Tokenizer::kSpecials);
}

TEST(TokenizerTest, TokensWithoutTextReadAsNothing) {
  const Tokenizer tokenizer = Trained();
  EXPECT_EQ(tokenizer.Decode(std::vector<int32_t>{tokenizer.begin(), tokenizer.answer(), tokenizer.end(), -1,
                                                  tokenizer.words(), 3 + 'x'}),
            "x");
}

TEST(TokenizerTest, TrainingEndsWhereNoPairStandsTwice) {
  EXPECT_EQ(OfText("abc", 100).words(), Tokenizer::kFewestWords);
  EXPECT_EQ(Trained(300).words(), 300);
}

// Quadratic work would take minutes.
TEST(TokenizerTest, ALongPieceIsEncodedInTime) {
  const Tokenizer tokenizer = OfText("((((((((((((((((((((((((((((((((", 8);
  const std::string text(1 << 18, '(');
  const std::vector<int32_t> tokens = tokenizer.Encode(text);
  EXPECT_EQ(tokens.size(), text.size() / 16);
  EXPECT_EQ(tokenizer.Decode(tokens), text);
}

TEST(TokenizerFileTest, ReadsWhatItWrote) {
  const TemporaryFolder folder = *TemporaryFolder::Create("tokenizer");
  const Tokenizer tokenizer = Trained();
  ASSERT_TRUE(WriteTokenizer(tokenizer, folder.path() / "t.json").ok());
  const Result<Tokenizer> read = ReadTokenizer(folder.path() / "t.json");
  ASSERT_TRUE(read.ok()) << read.status().message();
  EXPECT_EQ(*read, tokenizer);
  EXPECT_EQ(read->Encode(kKernel), tokenizer.Encode(kKernel));
}

// The newer form of a merge.
TEST(TokenizerFileTest, MergesMayBePairs) {
  const Tokenizer tokenizer = OfText("xy xy", 1);
  std::string text = PrintTokenizer(tokenizer);
  const size_t merge = text.find("\"x y\"");
  ASSERT_NE(merge, text.npos);
  text.replace(merge, 5, "[\"x\", \"y\"]");
  const Result<Tokenizer> read = ParseTokenizer(text);
  ASSERT_TRUE(read.ok()) << read.status().message();
  EXPECT_EQ(*read, tokenizer);
}

TEST(TokenizerFileTest, EveryCutIsRefused) {
  const std::string text = PrintTokenizer(OfText("xy xy", 2));
  for (size_t size = 0; size + 2 < text.size(); size += 7)
    EXPECT_EQ(ParseTokenizer(text.substr(0, size)).status().code(), StatusCode::kDataLoss) << size;
}

struct DamagedFile {
  std::string was, is, reason;
};
class DamagedTokenizerTest : public testing::TestWithParam<DamagedFile> {};

TEST_P(DamagedTokenizerTest, IsRefusedInOneLine) {
  std::string text = PrintTokenizer(OfText("xyz xyz", 3));
  const size_t at = text.find(GetParam().was);
  ASSERT_NE(at, text.npos);
  text.replace(at, GetParam().was.size(), GetParam().is);
  const Status status = ParseTokenizer(text).status();
  EXPECT_EQ(status.code(), StatusCode::kDataLoss);
  EXPECT_NE(status.message().find(GetParam().reason), std::string::npos) << status.message();
  EXPECT_EQ(status.message().find('\n'), std::string::npos);
}

INSTANTIATE_TEST_SUITE_P(Files, DamagedTokenizerTest,
                         testing::Values(DamagedFile{"\"x y\"", "\"xx y\"", "merge 1 is not of two tokens"},
                                         DamagedFile{"\"x y\"", "17", "merge 1 is not of two tokens"},
                                         DamagedFile{"\"x y\"", "\"x y\", \"x y\"", "merge 2 is there twice"},
                                         DamagedFile{"\"BPE\"", "\"WordPiece\"", "no BPE"},
                                         DamagedFile{"[0-9]|", "[0-9]+|", "other pieces"},
                                         DamagedFile{"<|answer|>", "<|pad|>", "special tokens"},
                                         DamagedFile{"\"normalizer\": null", "\"normalizer\": {}", "a normalizer"},
                                         DamagedFile{"\"xyz\": 260", "\"xyz\": 999", "vocabulary"}));

TEST(TokenizerFileTest, DeepNestingIsRefused) {
  const std::string whole = PrintTokenizer(OfText("xy xy", 1));
  const std::string deep = std::string(200000, '[') + std::string(200000, ']');
  for (const std::string part : {"\"BPE\"", "\"Isolated\"", "\"x y\"", "\"<|end|>\"", "259"}) {
    std::string text = whole;
    text.replace(text.find(part), part.size(), part == "259" ? "[" + deep + "]" : deep);
    EXPECT_EQ(ParseTokenizer(text).status().code(), StatusCode::kDataLoss) << part;
  }
}

// Forty of these would make a token of a terabyte.
TEST(TokenizerFileTest, TokensThatGrowWithoutEndAreRefused) {
  std::string text = PrintTokenizer(OfText("xx xx", 1));
  std::string merges, part = "x";
  for (int i = 0; i < 12; ++i, part += part) merges += (i ? ",\"" : "\"") + part + " " + part + "\"";
  const size_t at = text.find("\"x x\"");
  ASSERT_NE(at, text.npos);
  text.replace(at, 5, merges);
  EXPECT_NE(ParseTokenizer(text).status().message().find("over 128 bytes"), std::string::npos);
}

// It would stand twice in the vocabulary, where one number is lost.
TEST(TokenizerFileTest, ATokenNamedLikeASpecialOneIsRefused) {
  std::string text = PrintTokenizer(OfText("xx xx", 1));
  const auto replace = [&](const std::string& was, const std::string& is) {
    const size_t at = text.find(was);
    ASSERT_NE(at, text.npos);
    text.replace(at, was.size(), is);
  };
  replace("\"x x\"", R"("< |", "<| e", "<|e n", "<|en d", "<|end |", "<|end| >")");
  replace("\"xx\": 259", R"("<|": 259, "<|e": 260, "<|en": 261, "<|end": 262, "<|end|": 263)");
  const Status status = ParseTokenizer(text).status();
  EXPECT_EQ(status.code(), StatusCode::kDataLoss);
  EXPECT_NE(status.message().find("merge 6 makes a token with the name of a special one"), std::string::npos);
}

TEST(TokenizerFileTest, AMissingFileIsNamed) {
  const Status status = ReadTokenizer("no_such_tokenizer.json").status();
  EXPECT_EQ(status.code(), StatusCode::kNotFound);
  EXPECT_NE(status.message().find("no_such_tokenizer.json"), std::string::npos);
}

}  // namespace
}  // namespace gemmsmith
