#include <fmt/format.h>

#include "archive/segment.h"
#include "archive/trial_fields.h"
#include "base/text.h"

namespace gemmsmith {
namespace {

using enum RecordField;

std::string Number(double value) { return fmt::format("{}", value); }

const Timing* Ours(const Trial& trial) { return trial.outcome.Ours(); }
const Timing* Baseline(const Trial& trial) { return trial.outcome.FastestBaseline("", trial.outcome.LeadingClock()); }

const RatioEstimate* RatioToBaseline(const Trial& trial) {
  const Timing* baseline = Baseline(trial);
  for (const Comparison& comparison : trial.outcome.comparisons)
    if (baseline != nullptr && comparison.contender == "ours" && comparison.baseline == baseline->contender &&
        comparison.clock == trial.outcome.LeadingClock())
      return &comparison.ratio;
  return nullptr;
}

std::string Tflops(const Trial& trial) {
  const Timing* ours = Ours(trial);
  return ours == nullptr || !(ours->median_ns > 0) ? ""
                                                   : Number(2 * trial.gemm.shape.Volume() / ours->median_ns * 1e-3);
}

// A null pointer to a struct has no field to point at.
template <class Struct>
std::string Field(const Struct* record, double Struct::*field) {
  return record == nullptr ? "" : Number(record->*field);
}
template <class Struct>
std::string Bound(const Struct* record, double Interval::*bound) {
  return record == nullptr ? "" : Number(record->interval.*bound);
}

std::string OursOn(const Trial& trial, Clock clock) {
  return Field(trial.outcome.Find("ours", clock), &Timing::median_ns);
}

// The fields of a trial as texts, without those of lists and of what is optional.
class CellWriter : public CoderBase<CellWriter> {
 public:
  struct Cell {
    std::string_view name;
    std::string text;
  };

  explicit CellWriter(Trial trial) { VisitFields(*this, trial); }
  const Cell& Of(RecordField field) const { return cells_[size_t(field)]; }

  void Text(RecordField field, std::string_view name, std::string text) {
    cells_[size_t(field)] = {name, std::move(text)};
  }
  void Printed(RecordField field, std::string_view name, const auto& value, auto&& /*parse*/) {
    Text(field, name, Print(value));
  }
  void Integer(RecordField field, std::string_view name, auto value) { Text(field, name, fmt::to_string(value)); }
  void Real(RecordField field, std::string_view name, double value) { Text(field, name, Number(value)); }
  void Choice(RecordField field, std::string_view name, auto value, auto /*last*/) {
    Text(field, name, std::string(Name(value)));
  }
  void Limits(RecordField field, std::string_view name, const ClockLimits& limits) { Text(field, name, Print(limits)); }
  void Flag(auto&&...) {}
  void Optional(auto&&...) {}
  void List(auto&&...) {}

 private:
  std::array<Cell, kRecordFieldCount> cells_;
};

// A field under its own name, or a text under a name of its own.
struct CsvColumn {
  constexpr CsvColumn(RecordField of) : field(of) {}
  constexpr CsvColumn(std::string_view called, std::string (*prints)(const Trial&)) : name(called), print(prints) {}

  RecordField field{};
  std::string_view name;
  std::string (*print)(const Trial& trial) = nullptr;
};

constexpr CsvColumn kCsvColumns[] = {
    kUnixMs,
    kCampaign,
    {"device", [](const Trial& t) { return t.setting.device_key; }},
    {"m", [](const Trial& t) { return fmt::format("{}", t.gemm.shape.m); }},
    {"n", [](const Trial& t) { return fmt::format("{}", t.gemm.shape.n); }},
    {"k", [](const Trial& t) { return fmt::format("{}", t.gemm.shape.k); }},
    kProblem,
    kSubject,
    kProtocol,
    kSeed,
    kKind,
    kStage,
    kReason,
    {"time_ns", [](const Trial& t) { return Field(Ours(t), &Timing::median_ns); }},
    {"time_low_ns", [](const Trial& t) { return Bound(Ours(t), &Interval::low); }},
    {"time_high_ns", [](const Trial& t) { return Bound(Ours(t), &Interval::high); }},
    {"tflops", Tflops},
    {"baseline", [](const Trial& t) { return Baseline(t) == nullptr ? std::string() : Baseline(t)->contender; }},
    {"baseline_ns", [](const Trial& t) { return Field(Baseline(t), &Timing::median_ns); }},
    {"ratio", [](const Trial& t) { return Field(RatioToBaseline(t), &RatioEstimate::median); }},
    {"ratio_low", [](const Trial& t) { return Bound(RatioToBaseline(t), &Interval::low); }},
    {"ratio_high", [](const Trial& t) { return Bound(RatioToBaseline(t), &Interval::high); }},
    kRegisters,
    kLocalBytes,
    kStaticSmemBytes,
    kCodeBytes,
    kMaxAbsError,
    kBaselineMaxAbsError,
    kRelativeError,
    kSmClockMhz,
    kPowerWatts,
    kDriver,
    kToolchain,
    kLibraries,
    kHarness,
    {"chained_ns", [](const Trial& t) { return OursOn(t, Clock::kDeviceChained); }},
    {"offline_ns", [](const Trial& t) { return OursOn(t, Clock::kOffline); }},
    {"server_ns", [](const Trial& t) { return OursOn(t, Clock::kServer); }},
    {"host_ns", [](const Trial& t) { return OursOn(t, Clock::kHost); }},
    {"cold_ns", [](const Trial& t) { return OursOn(t, Clock::kDeviceCold); }},
    kNewerClockLimits,
    {"observer", [](const Trial& t) { return t.outcome.counters ? t.outcome.counters->observer : std::string(); }},
    {"cold_chained_ns", [](const Trial& t) { return OursOn(t, Clock::kDeviceColdChained); }},
    {"leading_clock", [](const Trial& t) { return std::string(Name(t.outcome.LeadingClock())); }},
};

std::string CounterField(const Trial& trial, Counter counter) {
  if (!trial.outcome.counters || !(*trial.outcome.counters)[counter]) return "";
  return Number(*(*trial.outcome.counters)[counter]);
}

// One line a trial: a line break within a field becomes a space.
std::string Quoted(std::string field) {
  for (char& c : field)
    if (c == '\n' || c == '\r') c = ' ';
  if (field.find_first_of(",\"") == std::string::npos) return field;
  std::string quoted = "\"";
  for (char c : field) quoted.append(c == '"' ? 2 : 1, c);
  return quoted + '"';
}

}  // namespace

std::string CsvHeader() {
  const CellWriter cells({.subject = Nobody()});
  std::vector<std::string> names;
  for (const CsvColumn& column : kCsvColumns)
    names.emplace_back(column.print == nullptr ? cells.Of(column.field).name : column.name);
  for (const CounterDefinition& definition : CounterDefinitions()) names.emplace_back(definition.name);
  return Join(names, ",");
}

std::string ToCsvLine(const Trial& trial) {
  const CellWriter cells(trial);
  std::vector<std::string> fields;
  for (const CsvColumn& column : kCsvColumns)
    fields.push_back(Quoted(column.print == nullptr ? cells.Of(column.field).text : column.print(trial)));
  for (const CounterDefinition& definition : CounterDefinitions())
    fields.push_back(CounterField(trial, definition.counter));
  return Join(fields, ",");
}

}  // namespace gemmsmith
