// JSON from strangers.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string_view>

#include "base/status.h"

namespace gemmsmith {

// InvalidArgument where the text is no JSON in UTF-8, or larger than any message is. Copying a value takes stack for
// each level (64 at most); adding a member to an object takes time for each that it has (512 at most).
Result<nlohmann::ordered_json> ParseBoundedJson(std::string_view text);

}  // namespace gemmsmith
