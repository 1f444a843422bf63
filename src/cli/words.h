// Numbers as people read them.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "base/statistics.h"
#include "base/text.h"
#include "outcome/outcome.h"
#include "program/subject.h"

namespace gemmsmith {

std::string TimeText(double time_ns);                   // "9.87 us", "1.204 ms"
std::string BytesText(double bytes);                    // "12.0 KiB"
std::string RatioText(const RatioEstimate& ratio);      // "1.32x [1.31-1.34]"; "1.32x" where no interval is known
std::string IntervalText(const Interval& interval_ns);  // "5.57 to 5.64 us", "none"
std::string SecondsText(double seconds);                // "7 s", "2 min 05 s", "1 h 02 min"
// "60 measured, 3 wrong, 1 timed_out"
std::string OutcomesText(const std::vector<std::pair<OutcomeKind, int>>& by_outcome);
std::string SubjectText(const Subject& subject);    // for people: a plan's short form, a source's name
std::string CanonicalText(const Subject& subject);  // for JSON: a plan's canonical text, a source's name
// "measured on an NVIDIA H200", or that a recording of this date answered; without one it was measured here.
std::string WhereText(std::string_view device_name, std::string_view recorded_date);
// "cuBLASLt AutoTuning" for "lt_auto_nn"; a name that is not one of ours stays as it is.
std::string BaselineText(std::string_view contender);

}  // namespace gemmsmith
