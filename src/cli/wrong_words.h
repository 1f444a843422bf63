// One line for every wrong use of the command line, with the nearest right word.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace gemmsmith {

// The innermost verb that was named, as far as parsing came.
CLI::App* InnermostVerb(CLI::App& root);

std::string ExplainWrongWords(const CLI::ParseError& error, CLI::App& root);

}  // namespace gemmsmith
