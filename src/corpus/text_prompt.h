// The prompt of a text model.
#pragma once

#include <string>

#include "problem/device_model.h"
#include "problem/gemm.h"

namespace gemmsmith {

// Two comment lines: sizes, layout and types; the device and the problem's floor on it.
std::string TextPrompt(const Gemm& gemm, const Device& device);

}  // namespace gemmsmith
