// Checks a built shared object before it runs: against the free-form contract, and for access that no launcher of a
// kernel needs. docs/free_form.md lists both. Security rests on the sandbox; this check refuses early and gives
// reasons.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"

namespace gemmsmith {

// The text of gemmsmith_descriptor_v1. NotFound in words for whoever wrote the source where the object exports no such
// text, or no function gemm.
Result<std::string> ReadDescriptor(std::span<const uint8_t> object);

// Every reason not to load the object, one line each; empty: none was found.
std::vector<std::string> ScreenSharedObject(std::span<const uint8_t> object);

// Why an object may not use this function or variable of somebody else ("imports fork, which starts processes"); empty
// where it may. The name is as in the symbol table.
std::string WhyNotImport(std::string_view symbol);
// Whether it is the name of a function of CUDA's libraries or of the C library, which an object may not give to its
// own.
bool BelongsToOthers(std::string_view symbol);

}  // namespace gemmsmith
