// Texts about a problem for the author of a kernel.
#pragma once

#include <string>
#include <string_view>

#include "problem/device_model.h"
#include "problem/gemm.h"

namespace gemmsmith {

// The problem, its arithmetic, the floor of its time, the device, the rules of sources, and an example.
std::string TaskText(const Gemm& gemm, const Device& device);
// A short, right and slow source of the free-form contract for any packed problem of this kind.
std::string ExampleSource(const GemmKind& kind);

// Inside the program (cmake/GemmsmithAgents.cmake).
std::string_view FreeFormPage();           // docs/free_form.md
std::string_view ExampleSourceTemplate();  // src/agents/example_source.cu.in

}  // namespace gemmsmith
