// Exchange: column segments (append-only, compressed, at most 16 MiB each), JSON lines and CSV. docs/records.md is the
// format.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "archive/columns.h"
#include "archive/trial.h"
#include "base/status.h"

namespace gemmsmith {

inline constexpr uint64_t kMaxSegmentBytes = 16u << 20;
inline constexpr size_t kMaxJsonLineBytes = 1u << 20;

struct SegmentDetail {
  bool samples = true;  // of ours on the device clock; false: none
  // Real numbers to RoundedBits() instead of kSignificantBits, and of trials that were not raced with care medians
  // alone: mean and interval are then 0.
  bool rounded = false;
};

// As many segments as the trials need; each stands alone.
std::vector<std::string> EncodeSegments(const std::vector<Trial>& trials, const SegmentDetail& detail = {});
// Refuses a truncated, damaged or newer segment by name of what is wrong. Never reads out of bounds, whatever the
// bytes.
Result<std::vector<Trial>> DecodeSegment(std::string_view bytes);
// What DecodeSegment() does once the columns are unpacked; an older file has fewer of them.
Result<std::vector<Trial>> DecodeColumns(const ColumnBytes& columns, size_t trial_count,
                                         size_t column_count = kColumnCount);

// All segments of a folder (*.gsr), or one file (.gsr or .jsonl).
Result<std::vector<Trial>> ReadRecords(const std::filesystem::path& path);

// Real numbers exactly; samples of ours on the device clock only.
std::string ToJsonLine(const Trial& trial);
// Every field but the samples must be there; unknown ones are ignored. A line of more than kMaxJsonLineBytes is
// refused.
Result<Trial> FromJsonLine(std::string_view line);
// The header line and one line a trial; the columns are those of docs/records.md.
std::string CsvHeader();
std::string ToCsvLine(const Trial& trial);

// Drops the samples that records do not keep.
void KeepRecordedSamples(Outcome& outcome, bool keep_ours);

}  // namespace gemmsmith
