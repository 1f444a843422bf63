#pragma once

#include <span>

#include "program/family.h"

namespace gemmsmith {

std::span<const Technique> WgmmaTechniques();

}  // namespace gemmsmith
