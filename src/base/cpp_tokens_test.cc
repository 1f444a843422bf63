#include "base/cpp_tokens.h"

#include <gtest/gtest.h>

#include <string>

namespace gemmsmith {
namespace {

TEST(CppTokens, KnowsCommentsStringsAndDirectives) {
  std::vector<std::string> words;
  for (const CppToken& token : CppTokens("#define A 1\na/*b*/::c // d\n\"e f\" R\"x(g)\" )x\" 1'0e+5 >= >>"))
    words.emplace_back(token.text);
  const std::vector<std::string> expected = {"#define A 1",    "a",      "::", "c", "\"e f\"",
                                             "R\"x(g)\" )x\"", "1'0e+5", ">=", ">", ">"};
  EXPECT_EQ(words, expected);
}

TEST(CppTokens, TakesEveryPrefixOfAText) {
  const std::string text = "#if 1\nR\"x(a)x\" 'b' \"c\\\"\" /* d */ e::f 1.5e-3\n";
  for (size_t length = 0; length <= text.size(); ++length) {
    size_t bytes = 0;
    for (const CppToken& token : CppTokens(std::string_view(text).substr(0, length))) bytes += token.text.size();
    EXPECT_LE(bytes, length);
  }
}

TEST(CppTokens, KeepsCommentsWhereTheyAreWanted) {
  std::vector<std::string> words;
  for (const CppToken& token : CppTokens("/*a*/ #if 1 \\\n/* b\n*/\nc // d\n", CppComments::kKept))
    words.emplace_back(token.text);
  EXPECT_EQ(words, (std::vector<std::string>{"/*a*/", "#if 1 \\\n/* b\n*/", "c", "// d"}));
}

}  // namespace
}  // namespace gemmsmith
