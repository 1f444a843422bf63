// Texts of strangers inside a question: a model reads them, and cannot take them for a part of the question.
#pragma once

#include <string>
#include <string_view>

namespace gemmsmith {

// Each line behind "> ", so none is a heading, a fence, a marker of an edit or a verdict. Controls, invisible
// characters and bytes that are no UTF-8 are left out. A space cuts the marks that chat templates end a message with,
// as in
// "< |im_end|>". At most `bytes`, cut at a character.
std::string Quoted(std::string_view text, size_t bytes);

}  // namespace gemmsmith
