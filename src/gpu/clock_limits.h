// Reasons why the clocks of a GPU were below their maximum: NVML's "clocks event reasons".
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>

namespace gemmsmith {

// Records hold these numbers: a new one goes to the end. That a GPU is idle is no limit.
enum class ClockLimit : uint8_t {
  kPowerCap,          // normal on large shapes
  kHardwareSlowdown,  // temperature, power or an external signal: the chip's own emergency brake
  kSoftwareThermal,   // the driver keeps the temperature down
  kHardwareThermal,
  kPowerBrake,         // an external signal, as of the power supply
  kSyncBoost,          // held to the clocks of other GPUs
  kApplicationClocks,  // set by an administrator
  kDisplayClocks,
};
inline constexpr size_t kClockLimitCount = size_t(ClockLimit::kDisplayClocks) + 1;
// "power_cap", "hardware_slowdown", "software_thermal", "hardware_thermal", "power_brake", "sync_boost",
// "application_clocks", "display_clocks"
std::string_view Name(ClockLimit limit);
std::optional<ClockLimit> ParseClockLimit(std::string_view name);

class ClockLimits {
 public:
  constexpr ClockLimits() = default;
  constexpr ClockLimits(std::initializer_list<ClockLimit> limits) {
    for (const ClockLimit limit : limits) Add(limit);
  }
  constexpr void Add(ClockLimit limit) { bits_ |= uint32_t{1} << int(limit); }
  constexpr void Add(ClockLimits others) { bits_ |= others.bits_; }
  constexpr bool Has(ClockLimit limit) const { return (bits_ >> int(limit) & 1) != 0; }
  constexpr bool HasAnyOf(ClockLimits others) const { return (bits_ & others.bits_) != 0; }
  constexpr bool empty() const { return bits_ == 0; }
  // Records have always told of the power cap; all else is a newer field of theirs, with a bit for each.
  static constexpr size_t kNewerCount = kClockLimitCount - 1;
  constexpr uint64_t NewerBits() const { return bits_ >> 1; }
  constexpr void AddNewerBits(uint64_t bits) { bits_ |= uint32_t(bits << 1); }
  constexpr bool operator==(const ClockLimits&) const = default;

 private:
  static_assert(ClockLimit::kPowerCap == ClockLimit(0));
  uint32_t bits_ = 0;
};

// The names with blanks between them; round-trips.
std::string Print(const ClockLimits& limits);
std::optional<ClockLimits> ParseClockLimits(std::string_view text);

// Rounds measured under one of these are discarded.
inline constexpr ClockLimits kSlowDowns = {ClockLimit::kHardwareSlowdown, ClockLimit::kSoftwareThermal,
                                           ClockLimit::kHardwareThermal, ClockLimit::kPowerBrake};

}  // namespace gemmsmith
