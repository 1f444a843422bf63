// What the name of a file tells of it.
#pragma once

#include <string_view>

namespace gemmsmith {

// Behind the last slash.
std::string_view LastName(std::string_view path);

bool IsHtmlName(std::string_view name);
bool IsPageName(std::string_view name);     // Markdown or HTML
bool IsCodeName(std::string_view name);     // CUDA or C++
bool IsProgramName(std::string_view name);  // the same, or a program or its settings in another language

}  // namespace gemmsmith
