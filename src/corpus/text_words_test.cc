#include "corpus/text_words.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/random.h"
#include "base/text.h"

namespace gemmsmith {
namespace {

std::vector<std::string> PiecesIn(std::string_view text) {
  std::vector<std::string> pieces;
  while (!text.empty()) pieces.emplace_back(TakePiece(text));
  return pieces;
}

using Pieces = std::vector<std::string>;

TEST(TextWords, NamesTakeTheSignsAroundThem) {
  EXPECT_EQ(PiecesIn("float sums[2][4] = {};\n  u32 a_frag;"),
            (Pieces{"float", " sums[", "2", "][", "4", "]", " =", " {};\n  ", "u32", " a_frag;"}));
  EXPECT_EQ(PiecesIn("Mma(sums[j], A[0]);"), (Pieces{"Mma(", "sums[", "j],", " A[", "0", "]);"}));
  EXPECT_EQ(PiecesIn("(x->y"), (Pieces{"(x->", "y"}));
}

TEST(TextWords, DigitsAreCutFromEachOther) {
  EXPECT_EQ(PiecesIn("163 51x8 "), (Pieces{"1", "6", "3", " 5", "1", "x8", " "}));
}

TEST(TextWords, WhiteSpaceIsOnePiece) {
  EXPECT_EQ(PiecesIn("a\n\n    b  \tc \n"), (Pieces{"a", "\n\n    ", "b", "  \t", "c", " ", "\n"}));
}

TEST(TextWords, BytesOfAnyKindAreInOnePieceEach) {
  EXPECT_EQ(PiecesIn("a\xff\x80 b\xc3\xa4"), (Pieces{"a\xff\x80", " b\xc3\xa4"}));
  Random random(1);
  for (int i = 0; i < 2000; ++i) {
    std::string text(random.Below(40), '\0');
    const bool is_code = random.Below(2) == 0;
    for (char& c : text) c = is_code ? "ab_09 \n\t\r;(/\xc3"[random.Below(13)] : char(random.Next());
    std::string joined;
    for (const std::string& piece : PiecesIn(text)) {
      ASSERT_FALSE(piece.empty());
      joined += piece;
    }
    ASSERT_EQ(joined, text);
  }
}

}  // namespace
}  // namespace gemmsmith
