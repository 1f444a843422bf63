// How a text is cut into the pieces inside which tokens are merged: a name with the space or sign before it and the
// signs behind it; a digit, since what is said of some numbers shall hold for all; a run of signs. Signs take the end
// of their line and the next indent along.
#pragma once

#include <string_view>

namespace gemmsmith {

// The same cut as a regular expression, for other readers of a tokenizer file.
extern const std::string_view kPieceRegex;

// Takes the first piece off a text that is not empty. A piece is never empty; pieces in order are the text.
std::string_view TakePiece(std::string_view& text);

}  // namespace gemmsmith
