// The parts that several answers in JSON share. docs/command_line.md documents every key; they are stable.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "archive/trial.h"
#include "outcome/outcome.h"

namespace gemmsmith {

using Json = nlohmann::ordered_json;

// One indented object and a newline; bytes that are no UTF-8 are replaced.
std::string PrintJson(const Json& json);

Json JsonOf(const Gemm& gemm);  // problem, shape, m, n, k, layout, type, accumulation, constant_b, lda, ldb, ldc
Json JsonOf(const Interval& interval);  // [low, high]
Json JsonOf(const Timing& timing);
Json JsonOf(const Comparison& comparison);
Json JsonOf(const Setting& setting);
// Null where none were read; a counter that is absent is null.
Json JsonOf(const std::optional<Counters>& counters);
Json JsonOf(const Outcome& outcome);
Json JsonOf(const std::vector<std::pair<OutcomeKind, int>>& by_outcome);  // {"measured": 60, ...}

}  // namespace gemmsmith
