// The free-form contract (docs/free_form.md) as far as a text can be asked: clear words for clear cases, before a
// compiler is started. What a source really is, its built object says (compile/screening.h).
#pragma once

#include <string>
#include <string_view>

#include "base/status.h"
#include "problem/gemm.h"

namespace gemmsmith {

inline constexpr size_t kMaxFreeFormBytes = 1 << 20;

// Why this text cannot be a source of the contract ("a Python source (it imports triton): ..."); empty where it may be.
std::string WhyNotFreeForm(std::string_view text);

// "gemm tn f16 f32": layout, types, accumulation.
std::string PrintDescriptor(const GemmKind& kind);
// Why a source with this descriptor is not for this kind of problem; empty where it is.
std::string WhyNotFor(const GemmKind& kind, std::string_view descriptor);

}  // namespace gemmsmith
