// x86-64 machine code, decoded just as far as to tell where one instruction ends and the next one starts.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

namespace gemmsmith {

// Bytes of the first instruction; nullopt where the bytes are none that a compiler writes, or end too early.
std::optional<size_t> InstructionLength(std::span<const uint8_t> code);

// Whether an instruction enters the kernel directly (syscall, sysenter, int 0x80). Decoding starts at the first byte
// and again at each of `starts`, the ascending offsets of functions; gaps between functions need not hold instructions.
// An encoding inside another instruction (a jump over 0x50f bytes) counts only if a direct jump or call leads there. It
// also counts where the code cannot be decoded.
bool EntersTheKernel(std::span<const uint8_t> code, std::span<const uint64_t> starts = {});

}  // namespace gemmsmith
