// The `wgmma` family: TMA to shared memory to wgmma (Hopper only).
#pragma once

#include "program/family.h"

namespace gemmsmith {

const Family& WgmmaFamily();

}  // namespace gemmsmith
