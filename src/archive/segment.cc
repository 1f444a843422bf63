#include "archive/segment.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <span>

#include "base/compression.h"
#include "archive/sound_trial.h"
#include "archive/trial_fields.h"
#include "base/bytes.h"
#include "base/hash.h"

namespace gemmsmith {
namespace {

constexpr std::string_view kMagic = "GSR\n";
constexpr uint16_t kVersion = 4;
constexpr size_t kMaxColumns = 256;  // that any program may ever have

uint64_t Checksum(std::string_view bytes) { return HashBytes(bytes).low; }

std::string Assemble(const ColumnBytes& columns, size_t trial_count) {
  ByteWriter header;
  std::string body;
  for (char letter : kMagic) header.Put(letter);
  header.Put(kVersion);
  header.Put(uint16_t(kColumnCount));
  header.Put(uint32_t(trial_count));
  for (const std::string& column : columns) {
    const std::string stored = Compress(column);
    header.Put(uint32_t(column.size()));
    header.Put(uint32_t(stored.size()));
    header.Put(Checksum(stored));
    body.append(stored);
  }
  std::string segment = std::move(header).Take();
  const uint64_t checksum = Checksum(segment);
  segment.append(reinterpret_cast<const char*>(&checksum), sizeof checksum);
  return segment + body;
}

// Returns nullopt where these trials are too many for one segment.
std::optional<std::string> EncodeOne(std::span<const Trial> trials, const SegmentDetail& detail) {
  if (trials.size() > kMaxSegmentTrials) return std::nullopt;
  ColumnEncoder encoder(detail.rounded);
  for (Trial trial : trials) {
    KeepRecordedSamples(trial.outcome, detail.samples);
    VisitFields(encoder, trial);
  }
  if (!encoder.WithinLimits()) return std::nullopt;
  std::string segment = Assemble(encoder.Columns(), trials.size());
  if (segment.size() > kMaxSegmentBytes) return std::nullopt;
  return segment;
}

void AppendSegments(std::span<const Trial> trials, const SegmentDetail& detail, std::vector<std::string>& segments) {
  if (trials.empty()) return;
  if (std::optional<std::string> segment = EncodeOne(trials, detail)) {
    segments.push_back(*std::move(segment));
    return;
  }
  GEMMSMITH_CHECK(trials.size() > 1, "one trial of {} does not fit into a segment", Print(trials[0].subject));
  AppendSegments(trials.first(trials.size() / 2), detail, segments);
  AppendSegments(trials.subspan(trials.size() / 2), detail, segments);
}

struct ColumnEntry {
  uint32_t raw_bytes = 0;
  uint32_t stored_bytes = 0;
  uint64_t checksum = 0;
};

struct Header {
  uint32_t trial_count = 0;
  std::vector<ColumnEntry> columns;
};

Result<Header> ReadHeader(std::string_view segment, ByteReader& reader) {
  if (reader.Take(kMagic.size()) != kMagic) return DataLoss("not a record segment");
  const uint16_t version = reader.Get<uint16_t>();
  if (reader.failed()) return DataLoss("the segment is truncated");
  if (version < kVersion)
    return InvalidArgument(fmt::format(
        "the segment has format {}, which this program no longer reads: export it again from its archive", version));
  if (version > kVersion)
    return InvalidArgument(
        fmt::format("the segment has format {}, this program knows {}: use a newer one", version, kVersion));
  const uint16_t column_count = reader.Get<uint16_t>();
  Header header;
  header.trial_count = reader.Get<uint32_t>();
  if (column_count > kMaxColumns) return DataLoss("the segment's header is damaged");
  for (size_t i = 0; i < column_count; ++i)
    header.columns.push_back({reader.Get<uint32_t>(), reader.Get<uint32_t>(), reader.Get<uint64_t>()});
  const size_t header_bytes = segment.size() - reader.remaining();
  const uint64_t checksum = reader.Get<uint64_t>();
  if (reader.failed()) return DataLoss("the segment is truncated");
  if (checksum != Checksum(segment.substr(0, header_bytes)) || column_count < kFirstColumnCount)
    return DataLoss("the segment's header is damaged");
  if (column_count > kColumnCount)
    return InvalidArgument(
        fmt::format("the segment has {} columns, this program knows {}: use a newer one", column_count, kColumnCount));
  return header;
}

Status CheckSizes(const Header& header, size_t remaining) {
  uint64_t raw = 0, stored = 0;
  for (const ColumnEntry& entry : header.columns) {
    if (entry.raw_bytes > kMaxColumnBytes) return DataLoss("a column is larger than a segment's may be");
    raw += entry.raw_bytes;
    stored += entry.stored_bytes;
  }
  if (raw > kMaxSegmentRawBytes || header.trial_count > kMaxSegmentTrials)
    return DataLoss("the segment holds more than a segment may");
  if (stored > remaining) return DataLoss("the segment is truncated");
  if (stored < remaining) return DataLoss("the segment has bytes after its end");
  return OkStatus();
}

}  // namespace

void KeepRecordedSamples(Outcome& outcome, bool keep_ours) {
  for (Timing& timing : outcome.timings)
    if (!keep_ours || timing.contender != "ours" || timing.clock != outcome.LeadingClock()) timing.samples_ns.clear();
}

std::vector<std::string> EncodeSegments(const std::vector<Trial>& trials, const SegmentDetail& detail) {
  std::vector<std::string> segments;
  for (size_t begin = 0; begin < trials.size(); begin += kMaxSegmentTrials) {
    const size_t count = std::min(kMaxSegmentTrials, trials.size() - begin);
    AppendSegments(std::span(trials).subspan(begin, count), detail, segments);
  }
  return segments;
}

Result<std::vector<Trial>> DecodeSegment(std::string_view bytes) {
  if (bytes.size() > kMaxSegmentBytes) return DataLoss("the segment is over 16 MiB");
  ByteReader reader(bytes);
  ASSIGN_OR_RETURN(const Header header, ReadHeader(bytes, reader));
  RETURN_IF_ERROR(CheckSizes(header, reader.remaining()));
  ColumnBytes columns;
  for (size_t i = 0; i < header.columns.size(); ++i) {
    const ColumnEntry& entry = header.columns[i];
    const std::string_view stored = reader.Take(entry.stored_bytes);
    if (Checksum(stored) != entry.checksum) return DataLoss(fmt::format("column {} is damaged", i));
    std::optional<std::string> column = Decompress(stored, entry.raw_bytes);
    if (!column) return DataLoss(fmt::format("column {} does not decompress", i));
    columns[i] = *std::move(column);
  }
  return DecodeColumns(columns, header.trial_count, header.columns.size());
}

Result<std::vector<Trial>> DecodeColumns(const ColumnBytes& columns, size_t trial_count, size_t column_count) {
  // Outside lists, a trial has at least a byte in every column.
  if (trial_count > kMaxSegmentTrials || trial_count > columns[size_t(RecordField::kProblem)].size())
    return DataLoss(fmt::format("a segment of {} trials without their columns", trial_count));
  ColumnDecoder decoder(columns, column_count);
  std::vector<Trial> trials(trial_count);
  for (Trial& trial : trials) {
    VisitFields(decoder, trial);
    if (decoder.failed()) break;
    for (const Status& sound : {CheckTimes(trial.outcome), CheckNames(trial)})
      if (!sound.ok()) return DataLoss(fmt::format("a trial of {}: {}", Print(trial.gemm), sound.message()));
  }
  RETURN_IF_ERROR(decoder.Finish());
  return trials;
}

}  // namespace gemmsmith
