// Any bytes as a segment: no crash, bounded memory, and trials that were decoded survive another round trip. Checksums
// stop random bytes early, so the input is also taken as the unpacked columns.
#include <algorithm>
#include <iterator>

#include "archive/segment.h"
#include "base/bytes.h"
#include "base/check.h"

namespace {

using namespace gemmsmith;

std::string Print(const std::vector<Trial>& trials) {
  std::string text;
  for (const Trial& trial : trials) text += ToJsonLine(trial) + EncodeOutcome(trial.outcome);
  return text;
}

void CheckRoundTrip(const std::vector<Trial>& trials) {
  if (trials.empty()) return;
  const std::vector<std::string> segments = EncodeSegments(trials, {.samples = false});
  std::vector<Trial> again;
  for (const std::string& segment : segments) {
    std::vector<Trial> decoded = *DecodeSegment(segment);
    std::move(decoded.begin(), decoded.end(), std::back_inserter(again));
  }
  std::vector<Trial> expected = trials;
  for (Trial& trial : expected) KeepRecordedSamples(trial.outcome, false);
  GEMMSMITH_CHECK(Print(again) == Print(expected), "{} trials", trials.size());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  std::string_view bytes(reinterpret_cast<const char*>(data), size);
  if (const Result<std::vector<Trial>> trials = DecodeSegment(bytes); trials.ok()) CheckRoundTrip(*trials);
  ByteReader reader(bytes);
  const size_t trial_count = reader.Get<uint16_t>();
  ColumnBytes columns;
  for (std::string& column : columns) column = std::string(reader.Take(reader.Get<uint8_t>()));
  if (const Result<std::vector<Trial>> trials = DecodeColumns(columns, trial_count); trials.ok())
    CheckRoundTrip(*trials);
  return 0;
}
