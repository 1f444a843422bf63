#include "program/config_text.h"

#include <fmt/format.h>

namespace gemmsmith {

void ConfigText::Line(std::string_view type, std::string_view name, std::string_view value) {
  text_ += fmt::format("  static constexpr {} {} = {};\n", type, name, value);
}

void ConfigText::Add(std::string_view name, int value) { Line("int", name, fmt::format("{}", value)); }

void ConfigText::Add(std::string_view name, bool value) { Line("bool", name, value ? "true" : "false"); }

// An enumerator by its number: the device header names them.
void ConfigText::Add(std::string_view name, Trigger trigger) {
  Line("auto", name, fmt::format("gemmsmith::Trigger({})", int(trigger)));
}

void ConfigText::Add(std::string_view name, Schedule schedule) {
  Line("auto", name, fmt::format("gemmsmith::Schedule({})", int(schedule)));
}

void ConfigText::Add(std::string_view name, SplitReduction reduction) {
  Line("auto", name, fmt::format("gemmsmith::SplitReduction({})", int(reduction)));
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
