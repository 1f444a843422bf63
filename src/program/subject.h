// What is judged: a plan of ours, or a whole source by somebody we need not trust.
#pragma once

#include <string>
#include <variant>

#include "program/plan.h"

namespace gemmsmith {

// A whole .cu file of the free-form contract (docs/free_form.md): an LLM's, a user's, or what `plan emit --standalone`
// writes. Nothing in it is believed.
struct FreeForm {
  std::string name;  // for people: a file's name
  std::string text;
  bool operator==(const FreeForm&) const = default;
};

using Subject = std::variant<Plan, FreeForm>;

inline bool IsPlan(const Subject& subject) { return std::holds_alternative<Plan>(subject); }

}  // namespace gemmsmith
