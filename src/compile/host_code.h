// x86-64 machine code, decoded just as far as to tell where one instruction ends and the next one starts.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

namespace gemmsmith {

// Bytes of the first instruction; nullopt where the bytes are none that a compiler writes, or end too early.
std::optional<size_t> InstructionLength(std::span<const uint8_t> code);

// Whether an instruction among them enters the kernel by itself (syscall, sysenter, int 0x80). Instructions are followed
// from the first byte on and anew from each of `starts`, ascending offsets where functions start: what fills the gaps
// between functions need not be instructions. Their encodings inside of other instructions (a jump over 0x50f bytes) do
// not count unless a jump or call with a fixed target leads there; where the code cannot be followed, they do.
bool EntersTheKernel(std::span<const uint8_t> code, std::span<const uint64_t> starts = {});

}  // namespace gemmsmith
