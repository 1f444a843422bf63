// The subject of a trial in records: a plan, a free-form source, or nobody (a race of baselines alone).
#pragma once

#include <compare>
#include <string>
#include <string_view>
#include <variant>

#include "base/status.h"
#include "program/subject.h"

namespace gemmsmith {

// A free-form source by its name, which has no white space, and the hash of its text.
struct RecordedSource {
  std::string name;
  std::string hash;
  auto operator<=>(const RecordedSource&) const = default;
};

struct Nobody {
  auto operator<=>(const Nobody&) const = default;
};

using TrialSubject = std::variant<Plan, RecordedSource, Nobody>;

// White space and control characters of the name become '_'.
TrialSubject SubjectOf(const Subject& subject);
// Canonical text: the plan's own, "source NAME HASH", or "none". Round-trips.
std::string Print(const TrialSubject& subject);
// Whether a canonical text is a plan's.
bool IsPlanText(std::string_view text);
Result<TrialSubject> ParseTrialSubject(std::string_view text);

}  // namespace gemmsmith
