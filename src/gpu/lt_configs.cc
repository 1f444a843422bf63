#include "gpu/lt_configs.h"

#include <algorithm>

#include "base/check.h"

namespace gemmsmith {

namespace {

// cublasLtClusterShape_t: 0 lets the library choose, 2 is one CTA, the others follow; there is no 1.
constexpr uint16_t kFirstCluster = 2, kClusterEnd = 52;
constexpr uint64_t kClusters = kClusterEnd - kFirstCluster + 1;
constexpr int32_t kSplits[] = {2, 3, 4, 5, 6, 8, 12, 16, 32};

uint64_t Choices(const std::vector<uint32_t>& values) { return std::max<size_t>(values.size(), 1); }
uint32_t Choice(const std::vector<uint32_t>& values, uint64_t index) { return values.empty() ? 0 : values[index]; }

uint64_t SizeOf(const LtCapabilities& algorithm) {
  return Choices(algorithm.tiles) * Choices(algorithm.stages) * algorithm.custom_options * kClusters;
}

// Takes a digit of the mixed-radix number `index`.
uint64_t TakeDigit(uint64_t& index, uint64_t radix) {
  const uint64_t digit = index % radix;
  index /= radix;
  return digit;
}

}  // namespace

LtConfigSpace::LtConfigSpace(std::vector<LtCapabilities> algorithms) : algorithms_(std::move(algorithms)) {
  for (const LtCapabilities& algorithm : algorithms_) size_ += SizeOf(algorithm);
}

LtConfig LtConfigSpace::at(uint64_t index) const {
  GEMMSMITH_CHECK(index < size_, "configuration {} of {}", index, size_);
  auto algorithm = algorithms_.begin();
  for (; index >= SizeOf(*algorithm); ++algorithm) index -= SizeOf(*algorithm);
  LtConfig config;
  config.id = algorithm->id;
  const uint64_t cluster = TakeDigit(index, kClusters);
  config.cluster = cluster == 0 ? 0 : uint16_t(kFirstCluster + cluster - 1);
  config.tile = Choice(algorithm->tiles, TakeDigit(index, Choices(algorithm->tiles)));
  config.stages = Choice(algorithm->stages, TakeDigit(index, Choices(algorithm->stages)));
  config.custom = uint32_t(index);
  return config;
}

std::vector<LtConfig> LtConfigSpace::VariantsOf(const LtConfig& config) const {
  const auto algorithm = std::find_if(algorithms_.begin(), algorithms_.end(),
                                      [&](const LtCapabilities& candidate) { return candidate.id == config.id; });
  GEMMSMITH_CHECK(algorithm != algorithms_.end(), "no algorithm {}", config.id);
  std::vector<LtConfig> splits = {config};
  for (const int32_t split : kSplits)
    for (uint32_t scheme = 1; algorithm->splits_k && scheme != 0 && scheme <= algorithm->reduction_schemes; scheme *= 2)
      if ((algorithm->reduction_schemes & scheme) != 0) {
        splits.push_back(config);
        splits.back().split_k = split;
        splits.back().reduction = scheme;
      }
  std::vector<LtConfig> variants;
  for (LtConfig variant : splits)
    for (uint32_t swizzle = 0; swizzle <= (algorithm->swizzles ? 1u : 0u); ++swizzle) {
      variant.swizzle = swizzle;
      if (variant != config) variants.push_back(variant);
    }
  return variants;
}

}  // namespace gemmsmith
