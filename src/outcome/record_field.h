// The fields of a record, numbered: a segment has a column for each of them.
#pragma once

#include <cstddef>
#include <cstdint>

namespace gemmsmith {

// In the order of a segment's columns. A field is never taken out or moved; a new one goes to the end.
enum class RecordField : uint8_t {
  kProblem,
  kSubject,
  kCampaign,
  kSeed,
  kUnixMs,
  kDeviceKey,
  kDeviceName,
  kGpuUuid,
  kDriver,
  kToolchain,
  kLibraries,
  kHarness,
  kKind,
  kStage,
  kReason,
  kProtocol,
  kRegisters,
  kLocalBytes,
  kStaticSmemBytes,
  kCodeBytes,
  kInstructions,
  kLocalMemoryInstructions,
  kMmaF32,
  kMmaF16,
  kWgmmaF32,
  kWgmmaF16,
  kPassed,
  kTest,
  kExplanation,
  kMaxAbsError,
  kBaselineMaxAbsError,
  kRelativeError,
  kTimingCount,
  kContender,
  kTimingClock,
  kMedianNs,
  kMeanNs,
  kIntervalLow,
  kIntervalHigh,
  kSampleCount,
  kKeptSampleCount,
  kSampleNs,
  kComparisonCount,
  kBaseline,
  kComparisonClock,
  kRatioMedian,
  kRatioMean,
  kRatioLow,
  kRatioHigh,
  kPairs,
  kSmClockMhz,
  kPowerWatts,
  kDiscardedBatches,
  kPowerCapped,
  kBaselineAlgorithmCount,
  kAlgorithmBaseline,
  kBaselineAlgorithm,
  kCompileSeconds,
  kEvaluateSeconds,
  kComparisonContender,
  kCountersGiven,
  kCounterObserver,
  kCounterLacks,
  kCountersPresent,
  kCounterValue,
  kNewerClockLimits,
  kInSteadyState,
  kEnergyGiven,
  kJoules,
  kJoulesLow,
  kJoulesHigh,
  kEnergyWatts,
  kEnergyClockMhz,
  kSignificantBits,
  kRecipe,
};
inline constexpr size_t kRecordFieldCount = size_t(RecordField::kRecipe) + 1;

// Two kinds of fields are pairs: a count and the first field of what is counted, the low and the high end of an
// interval.
constexpr RecordField Next(RecordField field) { return RecordField(size_t(field) + 1); }
static_assert(Next(RecordField::kTimingCount) == RecordField::kContender);
static_assert(Next(RecordField::kKeptSampleCount) == RecordField::kSampleNs);
static_assert(Next(RecordField::kComparisonCount) == RecordField::kBaseline);
static_assert(Next(RecordField::kBaselineAlgorithmCount) == RecordField::kAlgorithmBaseline);
static_assert(Next(RecordField::kIntervalLow) == RecordField::kIntervalHigh);
static_assert(Next(RecordField::kRatioLow) == RecordField::kRatioHigh);
static_assert(Next(RecordField::kJoulesLow) == RecordField::kJoulesHigh);

}  // namespace gemmsmith
