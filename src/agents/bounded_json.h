// JSON from strangers.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string_view>

#include "base/status.h"

namespace gemmsmith {

// InvalidArgument where the text is no JSON in UTF-8, or nested deeper than any message is: copying a value takes stack
// for each level.
Result<nlohmann::ordered_json> ParseBoundedJson(std::string_view text);

}  // namespace gemmsmith
