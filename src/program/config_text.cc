#include "program/config_text.h"

#include <fmt/format.h>

namespace gemmsmith {

void ConfigText::Line(std::string_view type, std::string_view name, std::string_view value) {
  text_ += fmt::format("  static constexpr {} {} = {};\n", type, name, value);
}

void ConfigText::Add(std::string_view name, int value) { Line("int", name, fmt::format("{}", value)); }

void ConfigText::Add(std::string_view name, bool value) { Line("bool", name, value ? "true" : "false"); }

void ConfigText::Add(std::string_view name, Trigger trigger) {
  constexpr std::string_view kNames[] = {"kNone", "kEarly", "kSoon", "kLate", "kLast"};
  Line("auto", name, fmt::format("gemmsmith::Trigger::{}", kNames[int(trigger)]));
}

void ConfigText::Add(std::string_view name, Schedule schedule) {
  constexpr std::string_view kNames[] = {"kOneTile", "kCooperative", "kPingPong", "kUnaided"};
  Line("auto", name, fmt::format("gemmsmith::Schedule::{}", kNames[int(schedule)]));
}

void ConfigText::Add(std::string_view name, SplitReduction reduction, int split) {
  constexpr std::string_view kNames[] = {"kAdd", "kOrdered", "kCluster", "kExchange"};
  Line("auto", name, fmt::format("gemmsmith::SplitReduction::{}", split == 1 ? "kNone" : kNames[int(reduction)]));
}

void ConfigText::AddKind(const GemmKind& kind) {
  text_ += fmt::format("  using Type = gemmsmith::{};\n", kind.type == ScalarType::kF16 ? "F16" : "Bf16");
  text_ += fmt::format("  using Sum = {};\n", kind.accumulation == Accumulation::kF32 ? "float" : "gemmsmith::F16");
  Add("kRowMajorB", kind.layout.b == Order::kRow);
}

void ConfigText::AddShape(const Shape& shape, FixedDimensions fixed) {
  const bool all = fixed == FixedDimensions::kAll;
  Add("kFixedM", all ? shape.m : 0);
  Add("kFixedN", all ? shape.n : 0);
  Add("kFixedK", fixed == FixedDimensions::kNone ? 0 : shape.k);
}

std::string ConfigText::Take() && { return std::move(text_) + "};\n"; }

}  // namespace gemmsmith
