// What a report says of the records that it speaks of, for people and for programs.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "report/selection.h"

namespace gemmsmith {

// "measured on an NVIDIA H200, 2026-11-22, short protocol, f16 in and out, f32 accumulation"
std::string MeasuredLine(const Selection& selection);
// device, device_key, date, first_date, protocol, type, accumulation.
nlohmann::ordered_json JsonFacts(const Selection& selection);

}  // namespace gemmsmith
