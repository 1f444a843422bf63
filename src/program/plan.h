// A Plan is a typed point of the kernel space: a family and a value for each of the family's parameters.
// It names no shape: the kernel it describes serves every problem that Check() finds legal.
#pragma once

#include <algorithm>
#include <array>
#include <compare>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"

namespace gemmsmith {

inline constexpr int kMaxParameters = 24;

// One axis of a family. Values are small integers; an axis of choices also has a word for each.
struct Parameter {
  std::string_view name;
  std::string_view meaning;                 // one line for people
  std::span<const int> values;              // ascending
  std::span<const std::string_view> words;  // empty: numbers are printed; else words[i] stands for values[i]
  int default_value = 0;
  bool ordered = false;  // an axis of words whose neighbours are one step away, as with numbers
  int stride = 0;        // numbers up to so far from each other are one step apart; 0: those next to each other
  // How many of its values, the first ones, a policy's words tell. The others are for twins to try, so weights stay
  // valid when they are added. An axis of which none is told is last among its family's.
  size_t told_count = std::numeric_limits<size_t>::max();
  int told_as = 0;  // the value that words tell instead of the others

  bool is_told() const { return told_count > 0; }
  std::span<const int> told_values() const { return values.first(std::min(told_count, values.size())); }
  int ToldValue(int value) const { return IndexOf(value) < int(told_values().size()) ? value : told_as; }
  int IndexOf(int value) const;  // -1 when not a value of this axis
  std::string Print(int value) const;
  bool HasSteps() const { return words.empty() || ordered; }
  int StepsBetween(int first, int second) const;  // along an axis that has steps
};

enum class FamilyId : uint8_t { kDirect, kWgmma };

struct Family {
  FamilyId id;
  std::string_view name;
  std::string_view meaning;
  std::span<const Parameter> parameters;

  int IndexOf(std::string_view parameter) const;  // -1 when unknown
  size_t ToldCount() const;                       // of the parameters, the first ones
};
std::span<const Family> Families();
const Family& GetFamily(FamilyId id);

struct Plan {
  FamilyId family = FamilyId::kDirect;
  std::array<int, kMaxParameters> values{};  // by index of the family's parameters; the rest is 0

  int Get(std::string_view parameter) const;  // CHECKs that the family has it
  void Set(std::string_view parameter, int value);
  auto operator<=>(const Plan&) const = default;
};

Plan DefaultPlan(FamilyId family);

// Canonical text: the family's name, then key=value for every parameter in the family's order.
// "direct tile_m=16 tile_n=8 ...". Parse takes the words in any order, fills in defaults for missing ones, and
// refuses unknown words with the nearest known one. Parse(Print(p)) == p.
std::string Print(const Plan& plan);
Result<Plan> ParsePlan(std::string_view text);

}  // namespace gemmsmith
