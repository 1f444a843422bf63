// Which baselines a problem is raced against, by name; docs/measuring.md says what they are.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "outcome/outcome.h"
#include "problem/gemm.h"

namespace gemmsmith {

enum class BaselineKind : uint8_t { kCublas, kLtHeuristic, kLtAuto, kTorch, kLtExhaustive, kSharedObject };

// One baseline. The layout of a shared object stands in its descriptor; it has the problem's shape and types.
struct BaselineId {
  BaselineKind kind = BaselineKind::kCublas;
  Layout layout = kTn;
  std::string path;  // of a shared object
  auto operator<=>(const BaselineId&) const = default;
};
std::string Name(const BaselineId& id);  // "lt_auto_nn", "torch_tn", "so:/path/to/kernel.so"

// The six variants of NVIDIA's libraries that the bound of a candidate's error comes from.
std::vector<BaselineId> NvidiaBaselineIds();

class BaselineSet {
 public:
  // The protocol's own: cuBLASLt AutoTuning; in a thorough protocol all six of NvidiaBaselineIds().
  BaselineSet() = default;

  // Names separated by commas: "default", a kind ("lt_auto", "torch": in nn and in tn), a kind and a layout
  // ("lt_auto_nn"), "so:PATH". A failure names the nearest right word.
  static Result<BaselineSet> Parse(std::string_view text);
  // Every name once, in the order they came; parses to the same set.
  std::string Print() const;

  // Each once.
  std::vector<BaselineId> For(Protocol protocol) const;
  bool operator==(const BaselineSet&) const = default;

 private:
  void Add(const BaselineId& id);

  bool has_default_ = true;
  std::vector<BaselineId> named_;
};

}  // namespace gemmsmith
