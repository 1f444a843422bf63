// Axes that several families have, and the words for them.
#pragma once

#include <string_view>

namespace gemmsmith {

// How the CTAs that split K of one tile meet; src/device/reduce.cuh explains each. kAdd, unused, where nothing is
// split.
enum class SplitReduction { kAdd, kOrdered, kCluster, kExchange };
// Which dimensions a kernel knows at compile time; k: with the strides along it.
enum class FixedDimensions { kNone, kK, kAll };
inline constexpr int kFixedKinds[] = {int(FixedDimensions::kNone), int(FixedDimensions::kK),
                                      int(FixedDimensions::kAll)};
inline constexpr std::string_view kFixedWords[] = {"none", "k", "all"};
// How CTAs come to their tiles; src/device/wgmma_tile.cuh.
enum class Schedule { kOneTile, kCooperative, kPingPong, kUnaided };
inline constexpr int kSchedules[] = {int(Schedule::kOneTile), int(Schedule::kCooperative), int(Schedule::kPingPong),
                                     int(Schedule::kUnaided)};
inline constexpr size_t kToldSchedules = 3;
inline constexpr std::string_view kScheduleWords[] = {"one", "cooperative", "pingpong", "unaided"};
// Which operand gives the rows of what wgmma computes: A, whose rows are C's; or B, so that it computes C transposed.
enum class Roles { kStraight, kSwapped };
inline constexpr int kRoles[] = {int(Roles::kStraight), int(Roles::kSwapped)};
inline constexpr std::string_view kRoleWords[] = {"straight", "swapped"};
// When a launch of a chain lets the next one start; src/device/types.cuh.
enum class Trigger { kNone, kEarly, kSoon, kLate, kLast };
inline constexpr int kTriggers[] = {int(Trigger::kNone), int(Trigger::kEarly), int(Trigger::kSoon), int(Trigger::kLate),
                                    int(Trigger::kLast)};
inline constexpr size_t kToldTriggers = 4;
inline constexpr std::string_view kTriggerWords[] = {"none", "early", "soon", "late", "last"};
inline constexpr std::string_view kTriggerMeaning =
    "when the next launch of a chain may start (programmatic dependent launch)";
inline constexpr int kSplits[] = {1, 2, 3, 4, 6, 8, 12, 16, 24, 32};

inline int CeilDivide(int a, int b) { return (a + b - 1) / b; }

}  // namespace gemmsmith
