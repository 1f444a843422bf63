// One line for every wrong use of the command line, with the nearest right word.
#pragma once

#include <string>

#include "cli/verb.h"

namespace gemmsmith {

// `words` are wrong.
std::string ExplainWrongWords(const ParsedWords& words);

}  // namespace gemmsmith
