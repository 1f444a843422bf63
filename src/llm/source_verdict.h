// A verdict of the judge (docs/agents.md) as the loop of a writing model needs it.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

#include "base/status.h"

namespace gemmsmith {

struct SourceVerdict {
  bool has_passed = false;  // every test that this machine can run
  bool is_timed = false;
  std::string outcome;  // "measured", "compile_failed", "wrong", ...; "untimed"
  std::string words;    // the judge's line
  std::string compiler_log;
  double time_ns = 0;              // where timed, on the leading clock
  std::optional<double> speed_up;  // over cuBLASLt AutoTuning
  std::string facts;               // what the machine code and the profiler say, as JSON
};

// Unavailable where the judge's machine failed: that says nothing of the subject. DataLoss where it is no verdict.
Result<SourceVerdict> ReadSourceVerdict(const nlohmann::ordered_json& json);

}  // namespace gemmsmith
