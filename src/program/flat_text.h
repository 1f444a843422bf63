// The lines of a flat kernel, written in a style.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "program/flat_form.h"

namespace gemmsmith {

// factor * name + offset, printed folded: "2 * i + 1", "i", "3".
struct FlatIndex {
  FlatIndex(int value) : offset(value) {}  // NOLINT(google-explicit-constructor): a number is an index
  explicit FlatIndex(std::string its_name) : name(std::move(its_name)), factor(1) {}
  FlatIndex operator*(int by) const;
  FlatIndex operator+(int by) const;
  std::string Print() const;
  // "row + 8 * i"; the text alone where the index is 0.
  std::string After(std::string_view text) const;

  std::string name;
  int factor = 0, offset = 0;
};

// An array's element, without the dimensions that have one element: "sums[j]".
struct FlatSubscript {
  FlatIndex index;
  int extent;
};
std::string Element(std::string_view array, std::initializer_list<FlatSubscript> subscripts);
// "float sums[2][4][4]", likewise.
std::string Declared(std::string_view array, std::initializer_list<int> extents);

inline std::string Number(int value) { return std::to_string(value); }

class FlatText {
 public:
  explicit FlatText(const FlatStyle& style) : style_(style) {}
  const FlatStyle& style() const { return style_; }

  // Lines of a template in which values stand for "$name" or "${name}".
  void Add(std::string_view lines, const std::map<std::string, std::string>& values = {});
  // Statements with one index that runs from 0. One pass stands alone, without the loop; few passes do where the style
  // writes them out, unless the body declares something.
  using Body = std::function<void(FlatText& text, const FlatIndex& index)>;
  void Loop(const std::string& name, int count, const Body& body, bool declares = false);
  // A block behind a head such as "if (x)"; braces only where they are needed.
  void Block(std::string_view head, const std::function<void(FlatText& text)>& body);
  // Lines of an inner text, two columns further in.
  void AddIndented(const FlatText& inner) { Append(inner, 2); }
  // Two independent parts, in the style's order.
  void Either(const std::function<void(FlatText& text)>& first, const std::function<void(FlatText& text)>& second);

  // With the style's names, and without comments where it has none.
  std::string Take() &&;

 private:
  void Append(const FlatText& inner, int indent);

  FlatStyle style_;
  std::string text_;
};

// For packed matrices; nullopt where the plan's family has no flat form (families.cc).
std::optional<std::string> FlatTextOf(const Plan& plan, const Gemm& gemm, const FlatStyle& style);

}  // namespace gemmsmith
