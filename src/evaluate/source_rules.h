// What the times of a source may not say.
#pragma once

#include <string>

#include "evaluate/outcome.h"

namespace gemmsmith {

// Repeated calls find their operands in L2, calls on the ring do not. Beyond what reading the operands from memory
// explains, repeated calls may not be faster: then they left work out, which only the ring checks. Returns the reason
// with both numbers; empty if the times agree, or if the bandwidth of the memory is unknown (0).
std::string WhyRepeatedCallsAreTooFast(const Timing& ring, const Timing& repeated, double operand_bytes,
                                       double memory_tbs);

}  // namespace gemmsmith
