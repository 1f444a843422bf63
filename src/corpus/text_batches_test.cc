#include "corpus/text_batches.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

namespace gemmsmith {
namespace {

std::vector<size_t> RandomLengths(size_t count) {
  Random random(3);
  std::vector<size_t> lengths;
  for (size_t i = 0; i < count; ++i) lengths.push_back(600 + random.Below(2000));
  return lengths;
}

double PaddingOf(const std::vector<size_t>& lengths, TextBatches& batches, int64_t count) {
  size_t tokens = 0, positions = 0;
  for (int64_t number = 0; number < count; ++number) {
    const std::vector<size_t> texts = batches.At(number);
    size_t longest = 0;
    for (const size_t text : texts) longest = std::max(longest, lengths[text]), tokens += lengths[text];
    positions += longest * texts.size();
  }
  return 1 - double(tokens) / double(positions);
}

TEST(TextBatches, HoldTextsOfSimilarLength) {
  const std::vector<size_t> lengths = RandomLengths(1000);
  TextBatches batches(lengths, 16, Random(1));
  EXPECT_LT(PaddingOf(lengths, batches, batches.batches_a_pass()), 0.02);
}

TEST(TextBatches, APassReadsEachTextOnceButForARemainder) {
  TextBatches batches(RandomLengths(103), 10, Random(1));
  ASSERT_EQ(batches.batches_a_pass(), 10);
  std::map<size_t, int> left_out;
  for (int64_t pass = 0; pass < 20; ++pass) {
    std::set<size_t> read;
    for (int64_t i = 0; i < 10; ++i)
      for (const size_t text : batches.At(10 * pass + i)) EXPECT_TRUE(read.insert(text).second) << text;
    EXPECT_EQ(read.size(), 100u);
    for (size_t text = 0; text < 103; ++text) left_out[text] += read.count(text) == 0 ? 1 : 0;
  }
  EXPECT_LE(
      std::max_element(left_out.begin(), left_out.end(), [](auto& a, auto& b) { return a.second < b.second; })->second,
      6);
}

TEST(TextBatches, ComeInAnOrderThatIsNotThatOfLengths) {
  const std::vector<size_t> lengths = RandomLengths(640);
  TextBatches batches(lengths, 10, Random(1));
  int rises = 0;
  for (int64_t number = 1; number < 64; ++number)
    rises += lengths[batches.At(number)[0]] > lengths[batches.At(number - 1)[0]] ? 1 : 0;
  EXPECT_GT(rises, 16);
  EXPECT_LT(rises, 48);
  EXPECT_NE(batches.At(0), batches.At(64));
}

TEST(TextBatches, DependOnTheirNumberAlone) {
  TextBatches in_order(RandomLengths(50), 7, Random(1)), at_once(RandomLengths(50), 7, Random(1));
  TextBatches other(RandomLengths(50), 7, Random(2));
  std::vector<size_t> last;
  for (int64_t number = 0; number < 24; ++number) last = in_order.At(number);
  EXPECT_EQ(at_once.At(23), last);
  EXPECT_EQ(at_once.At(3), in_order.At(3));
  EXPECT_NE(other.At(23), last);
}

TEST(TextBatches, FewTextsAreRepeated) {
  TextBatches batches({5, 9, 7}, 8, Random(1));
  const std::vector<size_t> texts = batches.At(0);
  ASSERT_EQ(texts.size(), 8u);
  for (const size_t text : {0, 1, 2}) EXPECT_GE(std::count(texts.begin(), texts.end(), text), 2) << text;
}

}  // namespace
}  // namespace gemmsmith
