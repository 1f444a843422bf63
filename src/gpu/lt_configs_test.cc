#include "gpu/lt_configs.h"

#include <gtest/gtest.h>

#include <set>

namespace gemmsmith {
namespace {

LtCapabilities Plain() { return {.id = 7}; }
LtCapabilities Rich() {
  return {.id = 66,
          .tiles = {20, 21, 24},
          .stages = {35, 36},
          .custom_options = 4,
          .splits_k = true,
          .reduction_schemes = 0b110,
          .swizzles = true};
}

TEST(LtConfigSpace, HoldsEveryCombinationOnce) {
  const LtConfigSpace space({Plain(), Rich()});
  constexpr uint64_t kClusters = 51;
  ASSERT_EQ(space.size(), kClusters + 3 * 2 * 4 * kClusters);
  std::set<LtConfig> seen;
  for (uint64_t i = 0; i < space.size(); ++i) {
    const LtConfig config = space.at(i);
    EXPECT_TRUE(seen.insert(config).second) << i;
    EXPECT_NE(config.cluster, 1) << "there is no such cluster";
    EXPECT_LE(config.cluster, 51);
    EXPECT_EQ(config.split_k, 1);
    EXPECT_EQ(config.tile == 0, config.id == 7);
    EXPECT_LT(config.custom, 4u);
  }
}

TEST(LtConfigSpace, OfNoAlgorithmIsEmpty) { EXPECT_EQ(LtConfigSpace({}).size(), 0u); }

TEST(LtConfigSpace, VariantsSplitAndSwizzleAsFarAsTheAlgorithmDoes) {
  const LtConfigSpace space({Plain(), Rich()});
  EXPECT_TRUE(space.VariantsOf({.id = 7}).empty());
  const LtConfig config{.id = 66, .tile = 21, .stages = 36, .custom = 3, .cluster = 5};
  const std::vector<LtConfig> variants = space.VariantsOf(config);
  EXPECT_EQ(variants.size(), (1 + 9 * 2) * 2 - 1u);
  EXPECT_EQ(std::set<LtConfig>(variants.begin(), variants.end()).size(), variants.size());
  for (const LtConfig& variant : variants) {
    EXPECT_NE(variant, config);
    EXPECT_EQ(variant.tile, 21u);
    EXPECT_EQ(variant.cluster, 5);
    EXPECT_EQ(variant.split_k > 1, variant.reduction != 0);
    EXPECT_TRUE(variant.reduction == 0 || variant.reduction == 2 || variant.reduction == 4);
  }
}

}  // namespace
}  // namespace gemmsmith
