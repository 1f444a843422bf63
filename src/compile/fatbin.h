// The container in which nvcc's host programs carry machine code of the GPU.
//
// As written by CUDA 13.0.88 (November 2026): a section .nv_fatbin is a row of containers, 8-byte aligned.
//   container {u32 0xba55ed50, u16 version 1, u16 size of this header, u64 bytes that follow}, then entries
//   entry     {u16 kind (1 PTX, 2 cubin), u16, u32 size of this header, u64 bytes that follow, ...; at 40 u64 flags}
// An entry's flags have bits 0x2000 and 0x8000 if it is compressed.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/status.h"

namespace gemmsmith {

inline constexpr uint32_t kFatbinMagic = 0xba55ed50;

// Every cubin of a .nv_fatbin section. DataLoss for anything else in there: PTX, which a driver would compile into we
// do not know what, compressed code, and whatever does not fit.
Result<std::vector<std::span<const uint8_t>>> CubinsOf(std::span<const uint8_t> section);

}  // namespace gemmsmith
