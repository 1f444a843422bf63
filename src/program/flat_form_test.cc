#include "program/flat_form.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "base/text.h"
#include "problem/example_device.h"
#include "program/family.h"
#include "program/free_form.h"
#include "program/random_plan.h"

namespace gemmsmith {
namespace {

const Gemm kGemms[] = {{{256, 512, 4096}},
                       {{256, 512, 4096}, {kNn, ScalarType::kBf16}},
                       {{17, 31, 63}, {kNn}},
                       {{100, 36, 1000}, {kTn, ScalarType::kF16, Accumulation::kF16}},
                       {{1, 1, 1}}};

TEST(FlatForm, IsOneReadableFileForEveryDirectPlan) {
  Random random(4);
  for (int i = 0; i < 500; ++i) {
    const Gemm& gemm = kGemms[size_t(i) % std::size(kGemms)];
    const std::optional<Plan> plan = RandomPlan(GetFamily(FamilyId::kDirect), {}, gemm, H200(), random);
    if (!plan) continue;
    const Result<std::string> text = EmitFlat(*plan, gemm, FlatStyleOf(random.Below(kFlatStyles)));
    ASSERT_TRUE(text.ok()) << text.status().message();
    const auto lines = std::count(text->begin(), text->end(), '\n');
    EXPECT_GE(lines, 80) << *text;
    EXPECT_LE(lines, 250) << *text;
    EXPECT_EQ(WhyNotFreeForm(*text), "");
    EXPECT_NE(text->find("\"" + PrintDescriptor(gemm.kind) + "\""), std::string::npos) << *text;
    for (const char* word : {"#include \"", "template", "Config", "gemmsmith::", "$"})
      EXPECT_EQ(text->find(word), std::string::npos) << word << " in " << *text;
    for (const std::string_view line : Split(*text, '\n')) EXPECT_LE(line.size(), 140u) << line;
  }
}

// The code's words; texts in quotes are PTX.
std::vector<std::string> Tokens(std::string_view text) {
  std::vector<std::string> tokens;
  bool is_quoted = false;
  for (const char c : text) {
    if (c == '"') is_quoted = !is_quoted;
    if (is_quoted) continue;
    const bool is_name = std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
    if (is_name && !tokens.empty() && !tokens.back().empty())
      tokens.back() += c;
    else
      tokens.emplace_back(is_name ? 1 : 0, c);
  }
  return tokens;
}

// Names differ by a bijection: no style gives two things one name.
TEST(FlatForm, AVocabularyNamesDifferentThingsDifferently) {
  for (const Gemm& gemm : kGemms)
    for (int names = 1; names < kFlatVocabularies; ++names) {
      const Plan plan = *ParsePlan("direct tile_m=32 tile_n=32 warps_m=2 warps_n=2 warps_k=2 trigger=last");
      const std::vector<std::string> plain = Tokens(*EmitFlat(plan, gemm, {.has_comments = false})),
                                     other = Tokens(*EmitFlat(plan, gemm, {.names = names, .has_comments = false}));
      ASSERT_EQ(plain.size(), other.size());
      std::map<std::string, std::string> there, back;
      int renamed = 0;
      for (size_t i = 0; i < plain.size(); ++i) {
        EXPECT_EQ(there.emplace(plain[i], other[i]).first->second, other[i]);
        EXPECT_EQ(back.emplace(other[i], plain[i]).first->second, plain[i]);
        renamed += plain[i] != other[i];
      }
      EXPECT_GT(renamed, 100);
    }
}

TEST(FlatForm, StylesAreDifferentTextsAndSeedZeroIsThePlainOne) {
  EXPECT_EQ(FlatStyleOf(0), FlatStyle{});
  const Plan plan = *ParsePlan("direct tile_m=16 tile_n=32 warps_n=2 warps_k=4 fixed=all");
  std::set<std::string> texts;
  for (uint64_t seed = 0; seed < 2 * kFlatStyles; ++seed) texts.insert(*EmitFlat(plan, kGemms[0], FlatStyleOf(seed)));
  EXPECT_EQ(texts.size(), size_t(kFlatStyles));
}

TEST(FlatForm, AStyleWithoutCommentsHasNone) {
  const std::string text = *EmitFlat(DefaultPlan(FamilyId::kDirect), kGemms[0], {.has_comments = false});
  EXPECT_EQ(text.find("//"), std::string::npos) << text;
}

TEST(FlatForm, RefusesByNameWhatItDoesNotHave) {
  const auto refusal = [](FamilyId family, const Gemm& gemm) {
    const Result<std::string> text = EmitFlat(DefaultPlan(family), gemm, {});
    EXPECT_EQ(text.status().code(), StatusCode::kInvalidArgument);
    return text.status().message();
  };
  EXPECT_NE(refusal(FamilyId::kWgmma, kGemms[0]).find("family wgmma"), std::string::npos);
  EXPECT_NE(refusal(FamilyId::kDirect, {{64, 64, 64}, {kTn}, 72}).find("--lda"), std::string::npos);
}

}  // namespace
}  // namespace gemmsmith
