// Axes that both families have, and the words for their values.
#pragma once

#include <string_view>

#include "device/geometry.h"

namespace gemmsmith {

// Dimensions that a kernel knows at compile time; k: with the strides along it.
enum class FixedDimensions { kNone, kK, kAll };
inline constexpr int kFixedKinds[] = {int(FixedDimensions::kNone), int(FixedDimensions::kK),
                                      int(FixedDimensions::kAll)};
inline constexpr std::string_view kFixedWords[] = {"none", "k", "all"};

inline constexpr int kTriggers[] = {int(Trigger::kNone), int(Trigger::kEarly), int(Trigger::kSoon), int(Trigger::kLate),
                                    int(Trigger::kLast)};
inline constexpr std::string_view kTriggerWords[] = {"none", "early", "soon", "late", "last"};
inline constexpr std::string_view kTriggerMeaning =
    "when the next launch of a chain may start (programmatic dependent launch)";

inline constexpr int kSplits[] = {1, 2, 3, 4, 6, 8, 12, 16, 24, 32};

}  // namespace gemmsmith
