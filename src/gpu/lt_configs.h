// The space of configurations that cublasLtMatmul's algorithms say they have. Knows no library: what an algorithm can
// is told, whether a configuration works is asked elsewhere.
#pragma once

#include <cstdint>
#include <vector>

namespace gemmsmith {

// One algorithm.
struct LtCapabilities {
  int32_t id = 0;
  std::vector<uint32_t> tiles, stages;  // those it was built for; empty: it has no such choice
  uint32_t custom_options = 1;          // 0 to this, exclusive
  bool splits_k = false;
  uint32_t reduction_schemes = 0;  // a bit each
  bool swizzles = false;
};

struct LtConfig {
  int32_t id = 0;
  uint32_t tile = 0, stages = 0;
  int32_t split_k = 1;
  uint32_t reduction = 0, swizzle = 0, custom = 0;
  uint16_t cluster = 0;
  auto operator<=>(const LtConfig&) const = default;
};

// Every tile, pipeline, custom option and cluster of every algorithm, k not split, nothing swizzled.
class LtConfigSpace {
 public:
  explicit LtConfigSpace(std::vector<LtCapabilities> algorithms);
  uint64_t size() const { return size_; }
  LtConfig at(uint64_t index) const;  // index < size()
  // The same configuration with k split and tiles swizzled in every way its algorithm has; not itself.
  std::vector<LtConfig> VariantsOf(const LtConfig& config) const;

 private:
  std::vector<LtCapabilities> algorithms_;
  uint64_t size_ = 0;
};

}  // namespace gemmsmith
