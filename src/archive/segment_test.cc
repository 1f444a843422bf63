#include "archive/segment.h"

#include <gtest/gtest.h>
#include <climits>

#include <cmath>
#include <cstring>

#include "archive/example_trials.h"
#include "archive/trial_fields.h"
#include "base/files.h"
#include "base/hash.h"

namespace gemmsmith {
namespace {

// A trial as a segment gives it back: rounded reals, and no samples but ours.
Trial Recorded(Trial trial, const SegmentDetail& detail) {
  Outcome& outcome = trial.outcome;
  const int bits = detail.rounded ? RoundedBits(outcome.protocol) : kSignificantBits;
  const auto round = [&](double& value) { value = RecordedReal(value, bits); };
  const bool has_spread = !detail.rounded || IsThorough(outcome.protocol);
  KeepRecordedSamples(outcome, detail.samples);
  for (double* value :
       {&outcome.verdict.max_abs_error, &outcome.verdict.baseline_max_abs_error, &outcome.verdict.relative_error,
        &outcome.conditions.power_watts, &outcome.compile_seconds, &outcome.evaluate_seconds})
    round(*value);
  for (Timing& timing : outcome.timings) {
    if (timing.energy) {
      for (double* real : {&timing.energy->joules, &timing.energy->interval.low, &timing.energy->interval.high,
                           &timing.energy->watts, &timing.energy->sm_clock_mhz})
        round(*real);
    }
    if (!has_spread) timing.mean_ns = 0, timing.interval = {};
    for (float& sample : timing.samples_ns) sample = float(RecordedReal(double(sample), bits));
    for (double* value : {&timing.median_ns, &timing.mean_ns, &timing.interval.low, &timing.interval.high})
      round(*value);
  }
  for (size_t i = 0; outcome.counters && i < kCounterCount; ++i)
    if (std::optional<double>& value = (*outcome.counters)[Counter(i)]) round(*value);
  for (Comparison& comparison : outcome.comparisons) {
    if (!has_spread) comparison.ratio.mean = 0, comparison.ratio.interval = {};
    for (double* value : {&comparison.ratio.median, &comparison.ratio.mean, &comparison.ratio.interval.low,
                          &comparison.ratio.interval.high})
      round(*value);
  }
  return trial;
}

std::vector<Trial> AllRecorded(std::vector<Trial> trials, const SegmentDetail& detail = {}) {
  for (Trial& trial : trials) trial = Recorded(std::move(trial), detail);
  return trials;
}

TEST(Segment, KeepsEveryFieldToTheRecordedPrecision) {
  const std::vector<Trial> trials = ExampleTrials(300);
  for (const SegmentDetail& detail : {SegmentDetail{false, false}, {true, false}, {false, true}, {true, true}}) {
    const std::vector<std::string> segments = EncodeSegments(trials, detail);
    ASSERT_EQ(segments.size(), 1u);
    const Result<std::vector<Trial>> decoded = DecodeSegment(segments[0]);
    ASSERT_TRUE(decoded.ok()) << decoded.status().message();
    EXPECT_EQ(*decoded, AllRecorded(trials, detail));
  }
}

TEST(Segment, RealsAreKeptAsPreciselyAsTheyWereTimed) {
  Random random(8);
  EXPECT_EQ(RoundedBits(Protocol::kScreen), 12);
  EXPECT_EQ(RoundedBits(Protocol::kHeat), 12);
  EXPECT_EQ(RoundedBits(Protocol::kShort), 14);
  EXPECT_EQ(RoundedBits(Protocol::kLong), 14);
  for (const int bits : {12, 14, kSignificantBits}) {
    double largest_error = 0;
    for (int i = 0; i < 10000; ++i) {
      const double value = std::ldexp(random.Normal(), int(random.Below(80)) - 40);
      const double recorded = RecordedReal(value, bits);
      largest_error = std::max(largest_error, std::abs(recorded - value) / std::abs(value));
      ASSERT_EQ(RecordedReal(recorded, bits), recorded);
    }
    EXPECT_LE(largest_error, std::ldexp(1, -bits));
    EXPECT_GE(largest_error, 0.9 * std::ldexp(1, -bits)) << "no more bytes than are needed";
    EXPECT_EQ(RecordedReal(0, bits), 0);
    EXPECT_EQ(RecordedReal(-INFINITY, bits), -INFINITY);
    EXPECT_TRUE(std::isnan(RecordedReal(NAN, bits)));
  }
}

TEST(Segment, WhatIsReadWritesTheSameBytesAgain) {
  const std::string segment = EncodeSegments(ExampleTrials(100))[0];
  EXPECT_EQ(EncodeSegments(*DecodeSegment(segment))[0], segment);
}

TEST(Segment, ExtremeNumbersSurvive) {
  Trial trial = ExampleTrial(0);
  trial.outcome.kind = OutcomeKind::kWrong;
  trial.outcome.facts.registers = INT_MIN;
  trial.outcome.facts.code_bytes = INT_MAX;
  trial.seed = UINT64_MAX;
  trial.unix_ms = INT64_MIN;
  trial.outcome.verdict.max_abs_error = std::numeric_limits<double>::infinity();
  trial.outcome.verdict.relative_error = -0.0;
  trial.outcome.timings = {{.contender = "ours", .median_ns = 1e38}};
  trial.outcome.comparisons = {{.baseline = "ours", .ratio = {.median = 1e-37}}};
  Trial other = ExampleTrial(1);
  other.unix_ms = INT64_MAX;
  const std::vector<Trial> trials = {trial, other, trial};
  EXPECT_EQ(*DecodeSegment(EncodeSegments(trials)[0]), AllRecorded(trials));
  EXPECT_TRUE(EncodeSegments({}).empty());
}

TEST(Segment, FiveThousandTrialsAreSmall) {
  const std::vector<std::string> segments = EncodeSegments(ExampleTrials(5000), {.samples = false});
  ASSERT_EQ(segments.size(), 1u);
  EXPECT_LT(segments[0].size(), 600'000u);
}

TEST(Segment, ManyTrialsAreSplitAndStandAlone) {
  std::vector<Trial> trials(kMaxSegmentTrials + 1, ExampleTrial(2));
  trials.back() = ExampleTrial(3);
  const std::vector<std::string> segments = EncodeSegments(trials, {.samples = false});
  ASSERT_EQ(segments.size(), 2u);
  EXPECT_EQ(DecodeSegment(segments[0])->size(), kMaxSegmentTrials);
  EXPECT_EQ(*DecodeSegment(segments[1]), AllRecorded({ExampleTrial(3)}, {.samples = false}));
}

TEST(Segment, MuchTextIsSplitToo) {
  std::vector<Trial> trials;
  for (int i = 0; i < 40; ++i) {
    trials.push_back(ExampleTrial(i));
    trials.back().outcome.reason = std::string(2 << 20, char('a' + i % 26));
  }
  const std::vector<std::string> segments = EncodeSegments(trials, {.samples = false});
  EXPECT_GT(segments.size(), 1u);
  size_t count = 0;
  for (const std::string& segment : segments) {
    EXPECT_LE(segment.size(), kMaxSegmentBytes);
    count += DecodeSegment(segment)->size();
  }
  EXPECT_EQ(count, trials.size());
}

TEST(Segment, EveryTruncationAndEveryTailIsRefused) {
  const std::string segment = EncodeSegments(ExampleTrials(10))[0];
  for (size_t length = 0; length < segment.size(); ++length)
    ASSERT_EQ(DecodeSegment(std::string_view(segment).substr(0, length)).status().code(), StatusCode::kDataLoss)
        << length;
  EXPECT_EQ(DecodeSegment(segment + "x").status().message(), "the segment has bytes after its end");
}

TEST(Segment, EveryChangedByteIsRefused) {
  const std::string segment = EncodeSegments(ExampleTrials(3))[0];
  for (size_t at = 0; at < segment.size(); ++at) {
    std::string changed = segment;
    changed[at] = char(changed[at] ^ 0x10);
    ASSERT_FALSE(DecodeSegment(changed).ok()) << at;
  }
}

void Reseal(std::string& segment, size_t column_count) {
  const size_t header_bytes = 12 + column_count * 16;
  const uint64_t checksum = HashBytes(std::string_view(segment).substr(0, header_bytes)).low;
  segment.replace(header_bytes, 8, (const char*)&checksum, 8);
}

TEST(Segment, SourcesAndRacesOfBaselinesAloneTravelToo) {
  Trial source = ExampleTrial(0), nobody = ExampleTrial(1);
  source.subject = SubjectOf(FreeForm{"fast.cu", "text"});
  nobody.subject = Nobody();
  nobody.outcome.comparisons = {{.baseline = "lt_auto_tn", .ratio = {.median = 0.9}, .contender = "cublas_tn"}};
  const std::vector<Trial> trials = {source, nobody};
  EXPECT_EQ(*DecodeSegment(EncodeSegments(trials, {.samples = false})[0]), AllRecorded(trials, {.samples = false}));
}

TEST(Segment, ColumnsThatAnOlderFileLacksLeaveTheirFieldsAsTheyAre) {
  ColumnEncoder encoder(false);
  Trial trial = AllRecorded({ExampleTrial(0)}, {.samples = false})[0];
  trial.outcome.conditions.limits = {ClockLimit::kPowerCap};  // the one that was always told
  trial.outcome.conditions.in_steady_state = false;
  VisitFields(encoder, trial);
  ASSERT_FALSE(trial.outcome.comparisons.empty());
  const Result<std::vector<Trial>> read = DecodeColumns(encoder.Columns(), 1, kFirstColumnCount);
  ASSERT_FALSE(read.ok()) << "the last column is there, though nobody said so";
  ColumnBytes columns = encoder.Columns();
  for (size_t column = kFirstColumnCount; column < kColumnCount; ++column) columns[column].clear();
  EXPECT_EQ(*DecodeColumns(columns, 1, kFirstColumnCount), std::vector{trial});
}

TEST(Segment, MoreColumnsThanAreKnownAreRefusedByTheirNumber) {
  std::string segment = EncodeSegments(ExampleTrials(1), {.samples = false})[0];
  const uint16_t more = kColumnCount + 1;
  segment.replace(6, 2, (const char*)&more, 2);
  segment.insert(12 + kColumnCount * 16, 16, '\0');
  Reseal(segment, more);
  EXPECT_EQ(DecodeSegment(segment).status().message(),
            fmt::format("the segment has {} columns, this program knows {}: use a newer one", more, kColumnCount));
}

TEST(Segment, AnotherFormatIsRefusedByName) {
  std::string segment = EncodeSegments(ExampleTrials(3))[0];
  segment[4] = 9;
  const Status newer = DecodeSegment(segment).status();
  EXPECT_EQ(newer.code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(newer.message(), "the segment has format 9, this program knows 4: use a newer one");
  segment[4] = 3;
  const Status older = DecodeSegment(segment).status();
  EXPECT_EQ(older.code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(older.message(),
            "the segment has format 3, which this program no longer reads: export it again from its archive");
}

// Four bytes each, in planes: a plane that is short is no column.
TEST(Segment, RealsThatAreCutAreRefused) {
  ColumnEncoder encoder(false);
  Trial trial = ExampleTrial(0);
  VisitFields(encoder, trial);
  for (const size_t lost : {1, 4}) {
    ColumnBytes columns = encoder.Columns();
    std::string& medians = columns[size_t(RecordField::kMedianNs)];
    medians.resize(medians.size() - lost);
    const Status status = DecodeColumns(columns, 1).status();
    EXPECT_EQ(status.code(), StatusCode::kDataLoss);
    EXPECT_TRUE(status.message().starts_with("column 35 ")) << status.message();
  }
}

// A header that is right in itself and claims columns of 32 MiB each from a few bytes.
TEST(Segment, SizesAreCheckedBeforeAnythingIsAllocated) {
  std::string segment = EncodeSegments(ExampleTrials(1), {.samples = false})[0];
  const size_t entries = 12;
  const uint32_t huge = kMaxColumnBytes;
  for (size_t column = 0; column < kColumnCount; ++column)
    segment.replace(entries + column * 16, 4, (const char*)&huge, 4);
  Reseal(segment, kColumnCount);
  EXPECT_EQ(DecodeSegment(segment).status().message(), "the segment holds more than a segment may");
}

TEST(Segment, ColumnsThatContradictEachOtherAreRefused) {
  EXPECT_FALSE(DecodeColumns(ColumnBytes(), 1).ok());
  EXPECT_FALSE(DecodeColumns(ColumnBytes(), size_t(-1)).ok());
  EXPECT_TRUE(DecodeColumns(ColumnBytes(), 0)->empty());
  ColumnBytes extra;
  extra[5] = "x";
  EXPECT_EQ(DecodeColumns(extra, 0).status().message(), "column 5 has bytes after its end");
}

class ReadRecordsTest : public ::testing::Test {
 protected:
  void Write(std::string_view name, std::string_view content) const {
    ASSERT_TRUE(WriteFileAtomic(folder_.path() / name, content).ok());
  }
  TemporaryFolder folder_ = *TemporaryFolder::Create("gemmsmith-records-test");
};

TEST_F(ReadRecordsTest, AFolderIsAllItsSegmentsInTheOrderOfTheirNames) {
  Write("b.gsr", EncodeSegments({ExampleTrial(1)})[0]);
  Write("a.gsr", EncodeSegments({ExampleTrial(0)})[0]);
  Write("README.md", "not a record");
  EXPECT_EQ(*ReadRecords(folder_.path()), AllRecorded(ExampleTrials(2)));
  EXPECT_EQ(*ReadRecords(folder_.path() / "b.gsr"), AllRecorded({ExampleTrial(1)}));
}

TEST_F(ReadRecordsTest, FailuresNameTheFileAndTheLine) {
  EXPECT_EQ(ReadRecords(folder_.path()).status().code(), StatusCode::kNotFound);
  EXPECT_EQ(ReadRecords(folder_.path() / "none.gsr").status().code(), StatusCode::kNotFound);
  Write("x.txt", "");
  EXPECT_EQ(ReadRecords(folder_.path() / "x.txt").status().code(), StatusCode::kInvalidArgument);
  Write("bad.gsr", "short");
  EXPECT_NE(ReadRecords(folder_.path()).status().message().find("bad.gsr: "), std::string::npos);
  Write("bad.jsonl", ToJsonLine(ExampleTrial(0)) + "\n\n{}\n");
  const std::string message = ReadRecords(folder_.path() / "bad.jsonl").status().message();
  EXPECT_NE(message.find("bad.jsonl:3: field gemmsmith_trial: is missing"), std::string::npos) << message;
}

}  // namespace
}  // namespace gemmsmith
