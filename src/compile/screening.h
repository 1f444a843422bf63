// Checks the machine code of a source before it runs: for memory that outlives a call, and for a look at what tells one
// call from another. docs/free_form.md lists both.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace gemmsmith {

// Every reason not to load a cubin, one line each, none twice; empty: none was found.
std::vector<std::string> ScreenMachineCode(std::span<const uint8_t> cubin);

}  // namespace gemmsmith
