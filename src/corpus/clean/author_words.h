// Instructions that the author of a code wrote: the comment above it.
#pragma once

#include <string>
#include <string_view>

namespace gemmsmith {

// The words of a comment, on one line of at most 600 bytes. Empty where it says less than three words, or is a
// licence, a line of signs, a note to do something, or code.
std::string InstructionIn(std::string_view comment);

// The same of words without comment signs.
std::string InstructionOfWords(std::string_view words);

}  // namespace gemmsmith
