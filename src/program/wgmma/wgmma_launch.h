#pragma once

#include <string>

#include "program/launch.h"
#include "program/wgmma/wgmma_plan.h"

namespace gemmsmith {

Launch LaunchWgmma(const WgmmaPlan& plan, const Gemm& gemm);
// "struct Config { ... };" for the device templates.
std::string WgmmaConfigText(const WgmmaPlan& plan, const Gemm& gemm);

}  // namespace gemmsmith
