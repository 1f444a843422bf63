// Any line: no crash, a failure of one line, and a trial that was read survives being written.
#include "archive/segment.h"
#include "base/check.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace gemmsmith;
  const Result<Trial> trial = FromJsonLine(std::string_view(reinterpret_cast<const char*>(data), size));
  if (!trial.ok()) {
    GEMMSMITH_CHECK(!trial.status().message().empty(), "no reason");
    return 0;
  }
  Trial kept = *trial;
  KeepRecordedSamples(kept.outcome, true);
  const std::string line = ToJsonLine(*trial);
  if (line.size() > kMaxJsonLineBytes) return 0;
  const Result<Trial> again = FromJsonLine(line);
  GEMMSMITH_CHECK(again.ok(), "{}", again.status().message());
  GEMMSMITH_CHECK(EncodeOutcome(again->outcome) == EncodeOutcome(kept.outcome) && ToJsonLine(*again) == line, "{}",
                  line);
  static_cast<void>(ToCsvLine(*trial));
  return 0;
}
