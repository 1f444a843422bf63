// What calls took of the GPU's energy, as a table.
#pragma once

#include <string>

#include "cli/terminal.h"
#include "outcome/outcome.h"
#include "problem/gemm.h"

namespace gemmsmith {

// Every contender on the energy clock; empty where none is.
std::string EnergyTable(const Outcome& outcome, const Shape& shape, const Terminal& terminal);

}  // namespace gemmsmith
