#pragma once

#include <string_view>

#include "base/status.h"

namespace gemmsmith {

// "sm_90a" is fine; InvalidArgument for words that do not name a GPU architecture, so that none reaches a compiler as
// an option.
Status CheckArchitecture(std::string_view architecture);

}  // namespace gemmsmith
