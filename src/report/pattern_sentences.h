// Patterns in words. A sentence is made where its number carries it and nowhere else; docs/report.md lists the rules.
#pragma once

#include <vector>

#include "report/patterns.h"

namespace gemmsmith {

inline constexpr int kMinToSpeak = 30;             // winners, problems or pairs
inline constexpr double kMinCorrelation = 0.4;     // of ranks
inline constexpr int kMinAtAnEnd = 10;             // winners at an end of a range that is quoted
inline constexpr double kMinClassShare = 2.0 / 3;  // of a class's winners
inline constexpr double kMinClassLead = 0.25;      // by which it exceeds the share in the other classes
inline constexpr double kMinOpposed = 0.5;         // of winners with a choice: whose problems met another one too
inline constexpr double kMinDifference = 0.02;     // of a ratio of times from 1; its middle half lies on that side
inline constexpr double kMinPlans = 5;             // on either side of it, on average: the best of few is no match
inline constexpr double kMinRaggedShare = 0.1;     // of a group's winners

std::vector<PatternSentence> SentencesOf(const Patterns& patterns);

}  // namespace gemmsmith
