// Parts of a record as JSON, for lines of records and for what the command line prints.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "compile/binary.h"

namespace gemmsmith {

// A number, or "nan", "inf", "-inf".
nlohmann::ordered_json JsonReal(double value);
nlohmann::ordered_json JsonFacts(const CodeFacts& facts);

}  // namespace gemmsmith
