// The `direct` family: global memory to register fragments to mma.sync, without staging.
#pragma once

#include "program/family.h"

namespace gemmsmith {

const Family& DirectFamily();

}  // namespace gemmsmith
