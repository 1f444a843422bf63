// Which baselines a problem is raced against, by name; docs/measuring.md says what they are.
#pragma once

#include <cstdint>
#include <optional>
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
// "lt_auto" of "lt_auto_nn"; a name without a layout is its own family.
std::string_view FamilyOf(std::string_view name);

// NVIDIA's three libraries in each layout that they race in beside a candidate of `layout`: nn and tn for these two,
// else the candidate's own. The bound of its error comes from them.
std::vector<BaselineId> NvidiaBaselineIds(const Layout& layout);

class BaselineSet {
 public:
  // The protocol's own: cuBLASLt AutoTuning; in a thorough protocol all of NvidiaBaselineIds().
  BaselineSet() = default;

  // Names separated by commas: "default", a kind ("lt_auto", "torch"), a kind and a layout ("lt_auto_nn"), "so:PATH".
  // A failure names the nearest right word.
  static Result<BaselineSet> Parse(std::string_view text);
  // Every name once, in the order they came; parses to the same set.
  std::string Print() const;

  // Each once, beside candidates of this layout.
  std::vector<BaselineId> For(Protocol protocol, const Layout& layout) const;
  bool operator==(const BaselineSet&) const = default;

 private:
  // A kind alone races in the layouts of the candidate.
  struct Word {
    BaselineKind kind = BaselineKind::kCublas;
    std::optional<Layout> layout;
    std::string path;
    bool operator==(const Word&) const = default;
  };
  static std::optional<Word> ReadWord(std::string_view text);

  bool has_default_ = true;
  std::vector<Word> named_;
};

}  // namespace gemmsmith
