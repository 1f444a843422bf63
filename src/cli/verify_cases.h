// What `verify --self-test` prints: the detection matrix, for people and as JSON.
#pragma once

#include <span>
#include <string>

#include "archive/json_text.h"
#include "cli/terminal.h"
#include "workflow/self_test_matrix.h"

namespace gemmsmith {

// A row a case, then what is not as expected with its reasons, then the sums.
std::string SelfTestText(std::span<const CaseReport> reports, int seeds, const Terminal& terminal);
Json SelfTestJson(std::span<const CaseReport> reports, int seeds);

}  // namespace gemmsmith
