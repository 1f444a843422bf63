// "struct Config { ... };": a plan for one problem as the compile-time constants of a device template.
#pragma once

#include <string>
#include <string_view>

#include "problem/gemm.h"
#include "program/shared_axes.h"

namespace gemmsmith {

class ConfigText {
 public:
  void Add(std::string_view name, int value);
  void Add(std::string_view name, bool value);
  void Add(std::string_view name, Trigger trigger);
  void Add(std::string_view name, Schedule schedule);
  void Add(std::string_view name, SplitReduction reduction);
  void AddKind(const GemmKind& kind);  // Type, Sum, kRowMajorB
  // kFixedM, kFixedN, kFixedK.
  void AddShape(const Shape& shape, FixedDimensions fixed);
  std::string Take() &&;

 private:
  void Line(std::string_view type, std::string_view name, std::string_view value);
  std::string text_ = "struct Config {\n";
};

}  // namespace gemmsmith
