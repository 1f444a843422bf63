// The words that texts are searched by.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace gemmsmith {

// In order, lower case, without endings of number and tense. An identifier gives its parts (at '_' and in camelCase)
// and itself. Words that say nothing ("the", "how") are left out.
std::vector<std::string> SearchTerms(std::string_view text);

}  // namespace gemmsmith
