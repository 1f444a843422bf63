// A Plan is a typed point of the kernel space: a family and a value for each of the family's axes.
// It names no shape: the kernel it describes serves every problem that Check() finds legal.
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <string_view>

#include "base/status.h"

namespace gemmsmith {

inline constexpr int kMaxAxes = 24;

// Which part of a kernel an axis decides.
enum class AxisRole : uint8_t {
  kTile,         // the tile, its warpgroups' schedule, clusters and splits
  kFeed,         // how operands reach the tile: stages, step, consumers
  kOrder,        // stores, the order of tiles, the number of CTAs
  kHint,         // cache hints: the kernel is right without them
  kChain,        // the start of the next launch
  kCompileTime,  // dimensions known to the compiler
};
// Tile and feed make most of the time. The other axes change a few per cent.
inline bool IsGeometry(AxisRole role) { return role == AxisRole::kTile || role == AxisRole::kFeed; }

// One axis of a family. Values are small integers; an axis of choices also has a word for each.
struct Axis {
  std::string_view name;
  std::string_view meaning;  // one line for people
  AxisRole role = AxisRole::kTile;
  std::span<const int> values;              // ascending but for retired ones
  std::span<const std::string_view> words;  // empty: numbers are printed; else words[i] stands for values[i]
  int default_value = 0;
  bool ordered = false;  // an axis of words whose neighbours are one step apart, as with numbers
  int stride = 0;        // numbers up to this distance are one step apart; 0: only neighbours are
  // The first so many values are in use. The others are retired: they parse and print, and Check() refuses them.
  size_t live_count = std::numeric_limits<size_t>::max();
  bool makes_kernels = false;  // each value has device code of its own: CoveringPlans() covers each by itself

  std::span<const int> live_values() const { return values.first(std::min(live_count, values.size())); }
  bool IsLive(int value) const { return IndexOf(value) < int(live_values().size()); }
  int IndexOf(int value) const;  // -1 for other numbers
  std::string Print(int value) const;
  bool HasSteps() const { return words.empty() || ordered; }
  int StepsBetween(int first, int second) const;  // along an axis that has steps
};

enum class FamilyId : uint8_t { kDirect, kWgmma };

struct Plan {
  FamilyId family = FamilyId::kDirect;
  std::array<int, kMaxAxes> values{};  // by index of the family's axes; the rest is 0

  int Get(std::string_view axis) const;  // CHECKs that the family has it
  void Set(std::string_view axis, int value);
  auto operator<=>(const Plan&) const = default;
};

Plan DefaultPlan(FamilyId family);

// Canonical text: the family's name, then key=value for every axis in the family's order.
// "direct tile_m=16 tile_n=8 ...". ParsePlan takes the words in any order, fills in defaults for missing ones, and
// refuses unknown words with the nearest known one. ParsePlan(Print(p)) == p.
std::string Print(const Plan& plan);
Result<Plan> ParsePlan(std::string_view text);

// For people: tile_m and tile_n, then what differs from the default. ParsePlan(PrintShort(p)) == p.
std::string PrintShort(const Plan& plan);

}  // namespace gemmsmith
