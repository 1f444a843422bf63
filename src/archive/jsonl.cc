#include "archive/json_coders.h"
#include "archive/segment.h"
#include "archive/sound_trial.h"
#include "archive/trial_fields.h"

namespace gemmsmith {
namespace {

constexpr int kJsonVersion = 1;
constexpr const char* kVersionName = "gemmsmith_trial";

}  // namespace

std::string ToJsonLine(const Trial& trial) {
  Trial kept = trial;
  KeepRecordedSamples(kept.outcome, true);
  nlohmann::ordered_json line = {{kVersionName, kJsonVersion}};
  JsonWriter writer(line);
  VisitFields(writer, kept);
  // A compiler's message or a kernel's name may not be UTF-8.
  return line.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

Result<Trial> FromJsonLine(std::string_view line) {
  if (line.size() > kMaxJsonLineBytes) return InvalidArgument("the line is over 1 MiB");
  const nlohmann::json parsed = nlohmann::json::parse(line, nullptr, false);
  if (parsed.is_discarded()) return InvalidArgument("the line is not JSON");
  if (!parsed.is_object()) return InvalidArgument("the line is not a JSON object");
  Status status = OkStatus();
  JsonReader reader(parsed, "", status);
  int version = kJsonVersion;
  reader.Integer(RecordField(), kVersionName, version);
  if (status.ok() && version != kJsonVersion)
    return InvalidArgument(
        fmt::format("field {}: version {} is unknown, known is {}", kVersionName, version, kJsonVersion));
  Trial trial;
  VisitFields(reader, trial);
  RETURN_IF_ERROR(status);
  RETURN_IF_ERROR(CheckTimes(trial.outcome));
  RETURN_IF_ERROR(CheckNames(trial));
  return trial;
}

}  // namespace gemmsmith
