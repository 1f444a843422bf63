// Files of records: column segments (append-only, compressed, at most 16 MiB each), JSON lines and CSV. docs/records.md
// defines the formats.
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
  bool samples = true;  // of ours on the leading clock; false: none
  // Real numbers have RoundedBits() instead of kSignificantBits. Trials of screens and heats keep their medians alone:
  // mean and interval are 0.
  bool rounded = false;
};

// Returns as many segments as the trials need; each can be read alone.
std::vector<std::string> EncodeSegments(const std::vector<Trial>& trials, const SegmentDetail& detail = {});
// Refuses a truncated, damaged or newer segment, and says which. Never reads out of bounds.
Result<std::vector<Trial>> DecodeSegment(std::string_view bytes);
// DecodeSegment() without the unpacking. An older file has fewer columns.
Result<std::vector<Trial>> DecodeColumns(const ColumnBytes& columns, size_t trial_count,
                                         size_t column_count = kColumnCount);

// Reads all segments of a folder (*.gsr), or one file (.gsr or .jsonl).
Result<std::vector<Trial>> ReadRecords(const std::filesystem::path& path);

// Real numbers are exact. Only our samples on the leading clock are kept.
std::string ToJsonLine(const Trial& trial);
// Refuses a line that lacks a field (docs/records.md names those that may be missing) or has more than
// kMaxJsonLineBytes. Unknown fields are ignored.
Result<Trial> FromJsonLine(std::string_view line);
// The header line, and the line of a trial, without line feeds.
std::string CsvHeader();
std::string ToCsvLine(const Trial& trial);

// Drops the samples that records do not keep.
void KeepRecordedSamples(Outcome& outcome, bool keep_ours);

}  // namespace gemmsmith
