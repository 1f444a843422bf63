// Which of several ways to do a thing wins where: schedule, roles, reduction and so on.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "report/winning_plans.h"

namespace gemmsmith {

struct ChoiceValue {
  Label value;
  std::optional<double> correlation;  // of having it with m n k; nothing where all or none has it, or all are one size
};

struct ChoicePattern {
  std::string family, choice;  // the family itself is a choice of "any"
  Tally all;
  std::vector<ChoiceValue> values;  // those that any winner has
  std::vector<Tally> by_class, by_size;
};

// The axes of words. A reduction counts where K is split, ctas where a schedule is persistent, and of the trigger,
// which works in chains alone, the plans that speak for chains.
// The trials are those that the selection was made from: they tell whose problems have met no other value.
std::vector<ChoicePattern> ChoicePatterns(const std::vector<Trial>& trials, const Selection& selection);

}  // namespace gemmsmith
