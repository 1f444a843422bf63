#include "policy/tokens.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>

#include "archive/example_trials.h"
#include "policy/contexts.h"
#include "policy/spoken.h"

namespace gemmsmith {
namespace {

Plan AnyPlan(const Family& family, Random& random) {
  Plan plan = DefaultPlan(family.id);
  for (size_t i = 0; i < SpokenAxisCount(family); ++i) {
    const std::span<const int> values = SpokenValues(family, i);
    plan.values[i] = values[random.Below(values.size())];
  }
  return plan;
}

Document SomeDocument(int number) {
  Random random = Random(uint64_t(number)).Fork("document");
  const Device& device = KnownDevices()[random.Below(KnownDevices().size())];
  Document document{.gemm = ExampleGemm(number), .device = FactsOf(device)};
  for (int i = 0; i < number % 4; ++i) {
    const Trial trial = ExampleTrial(number * 10 + i);
    document.exemplars.push_back({trial.plan(), AsJudged(trial.gemm, device, trial.outcome)});
  }
  if (number % 3 != 0) document.analysis = Analyse(document.exemplars);
  if (number % 2 == 1) document.goal = int(random.Below(kGoalPercents.size()));
  if (number % 5 != 0) {
    const Trial trial = ExampleTrial(number);
    document.candidate = AnyPlan(Families()[random.Below(Families().size())], random);
    if (number % 7 != 0) document.judged = AsJudged(trial.gemm, device, trial.outcome);
  }
  return document;
}

TEST(TokensTest, EverySpokenValueComesBack) {
  for (const Family& family : Families()) {
    for (size_t axis = 0; axis < SpokenAxisCount(family); ++axis) {
      for (const int value : SpokenValues(family, axis)) {
        Plan plan = DefaultPlan(family.id);
        plan.values[axis] = value;
        const Result<Plan> read = DecodePlan(EncodePlan(plan));
        ASSERT_TRUE(read.ok()) << read.status().message();
        EXPECT_EQ(Print(*read), Print(plan));
      }
    }
    Random random(3);
    for (int i = 0; i < 1000; ++i) {
      const Plan plan = AnyPlan(family, random);
      EXPECT_EQ(*DecodePlan(EncodePlan(plan)), plan);
    }
  }
}

TEST(TokensTest, AValueWithoutAWordIsSaidAsAnother) {
  for (const char* family : {"direct", "wgmma"}) {
    const Plan last = *ParsePlan(fmt::format("{} trigger=last", family));
    EXPECT_EQ(*DecodePlan(EncodePlan(last)), *ParsePlan(fmt::format("{} trigger=late", family)));
  }
  const Plan plain = *ParsePlan("wgmma schedule=pingpong"), placed = *ParsePlan("wgmma schedule=pingpong place=near");
  EXPECT_EQ(EncodePlan(placed), EncodePlan(plain)) << "an axis without words";
  EXPECT_EQ(*DecodePlan(EncodePlan(placed)), plain);
}

TEST(TokensTest, APlanIsAWordForItsFamilyAndOneForEachSpokenAxis) {
  for (const Family& family : Families())
    EXPECT_EQ(EncodePlan(DefaultPlan(family.id)).size(), 1 + SpokenAxisCount(family));
}

TEST(TokensTest, DocumentsComeBackWithRoundedReals) {
  for (int number = 0; number < 500; ++number) {
    const Document document = SomeDocument(number);
    const std::vector<Token> tokens = Encode(document);
    const Result<Document> read = Decode(tokens);
    ASSERT_TRUE(read.ok()) << number << ": " << read.status().message() << "\n" << PrintTokens(tokens);
    EXPECT_EQ(*read, Rounded(document)) << PrintTokens(tokens);
    EXPECT_EQ(Encode(*read), tokens);
  }
}

TEST(TokensTest, ADocumentBeginsWithItsContext) {
  for (int number = 0; number < 50; ++number) {
    const Document document = SomeDocument(number);
    const std::vector<Token> all = Encode(document), context = EncodeContext(document);
    ASSERT_LE(context.size(), all.size());
    EXPECT_TRUE(std::equal(context.begin(), context.end(), all.begin()));
    EXPECT_EQ(context.back(), TokenVocabulary()[Mark::kCandidate]);
  }
}

TEST(TokensTest, ShapesAndLeadingDimensionsAreExact) {
  Random random(5);
  Document document{.gemm = ExampleGemm(0), .device = FactsOf(KnownDevices()[0])};
  for (int i = 0; i < 2000; ++i) {
    const auto any = [&] { return 1 + int(random.Below(uint64_t{1} << (1 + random.Below(30)))); };
    document.gemm = {.shape = {any(), any(), any()}, .kind = {kNn, ScalarType::kBf16}};
    if (i % 3 == 0) document.gemm.lda = any(), document.gemm.ldc = 0x7fffffff;
    const Result<Document> read = Decode(Encode(document));
    ASSERT_TRUE(read.ok()) << read.status().message() << " " << Print(document.gemm);
    EXPECT_EQ(read->gemm, document.gemm) << Print(document.gemm);
  }
}

TEST(TokensTest, APowerOfTwoIsOneWordAndThreeTimesOneTwo) {
  const auto length = [](Shape shape) {
    return Encode({.gemm = {.shape = shape}, .device = FactsOf(KnownDevices()[0])}).size();
  };
  EXPECT_EQ(length({64, 64, 16384}), length({1, 1, 1}));
  EXPECT_EQ(length({64, 64, 12288}), length({1, 1, 1}) + 1);
}

TEST(TokensTest, RealsAreRoundedToNineSignificantBitsAndCountersToFive) {
  Document document{.gemm = ExampleGemm(0), .device = FactsOf(KnownDevices()[0])};
  document.candidate = DefaultPlan(FamilyId::kDirect);
  Random random(9);
  for (int i = 0; i < 1000; ++i) {
    const double value = std::exp(4 * random.Normal());
    document.judged = JudgedAs{.kind = OutcomeKind::kMeasured, .score = value, .counters = {{Counter::kWaves, value}}};
    const Document rounded = Rounded(document);
    EXPECT_NEAR(*rounded.judged->score / value, 1, 1.0 / 512);
    EXPECT_NEAR(rounded.judged->counters[0].second / value, 1, 1.0 / 32);
    EXPECT_EQ(Rounded(rounded), rounded);
  }
  for (const double value : {0.0, double(NAN), -1.0}) {
    document.judged->score = value;
    EXPECT_EQ(*Decode(Encode(document))->judged->score, 0) << value;
  }
  for (const double value : {1e-300, 1e300, double(INFINITY)}) {
    document.judged->score = value;
    EXPECT_TRUE(Decode(Encode(document)).ok()) << value;
  }
}

TEST(TokensTest, TextComesBack) {
  const std::vector<Token> tokens = Encode(SomeDocument(11));
  EXPECT_EQ(*ParseTokens(PrintTokens(tokens)), tokens);
  EXPECT_EQ(ParseTokens("tn flops:many").status().message(),
            fmt::format("'flops:many' is no word of {}", TokenVocabulary().identity()));
}

TEST(TokensTest, TokensOfAnotherVersionAreRefusedInOneLine) {
  std::vector<Token> tokens = Encode(SomeDocument(1));
  tokens[0] = TokenVocabulary()[Mark::kEnd];
  const Result<Document> read = Decode(tokens);
  ASSERT_FALSE(read.ok());
  EXPECT_EQ(read.status().message(),
            "tokens that do not begin with gemmsmith-tokens-1: of another version, or no document");
  EXPECT_FALSE(Decode({}).ok());
}

TEST(TokensTest, CutOrDamagedTokensAreRefusedOrAreAnotherDocument) {
  for (int number = 1; number < 30; ++number) {
    const std::vector<Token> tokens = Encode(SomeDocument(number));
    for (size_t length = 0; length < tokens.size(); ++length) {
      const Result<Document> read = Decode(std::span(tokens).first(length));
      if (read.ok()) {
        EXPECT_EQ(Encode(*read).size(), length);
      }
    }
    Random random{uint64_t(number)};
    for (int i = 0; i < 300; ++i) {
      std::vector<Token> damaged = tokens;
      damaged[random.Below(damaged.size())] = Token(random.Below(TokenVocabulary().size() + 5));
      const Result<Document> read = Decode(damaged);
      if (read.ok()) {
        EXPECT_EQ(Encode(*read), damaged) << PrintTokens(damaged);
      } else {
        EXPECT_EQ(read.status().message().find('\n'), std::string::npos);
      }
    }
  }
}

TEST(TokensTest, RefusalsNameTheWordAndItsPlace) {
  const std::vector<Token> tokens = *ParseTokens("gemmsmith-tokens-1 tn type:f16 sum:f32 m:2^6 n:2^6 n:2^6");
  EXPECT_EQ(Decode(tokens).status().message(), "word 7 should be k, not 'n:2^6'");
}

TEST(TokensTest, VocabularyHasAWordForEveryTokenAndNamesItself) {
  const Vocabulary& words = TokenVocabulary();
  EXPECT_LT(words.size(), 2048u);
  for (size_t token = 0; token < words.size(); ++token) EXPECT_EQ(words.Find(words.Word(Token(token))), Token(token));
  EXPECT_TRUE(words.identity().starts_with(fmt::format("tokens {} ", kTokenVersion)));
}

// Weights of another identity are refused. A change here needs new weights.
TEST(TokensTest, VocabularyIsTheOneOfTheShippedWeights) {
  EXPECT_EQ(TokenVocabulary().identity(), "tokens 1 efcee9b4f609");
}

}  // namespace
}  // namespace gemmsmith
