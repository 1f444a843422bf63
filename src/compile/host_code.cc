#include "compile/host_code.h"

#include <algorithm>
#include <vector>

namespace gemmsmith {

namespace {

using Bytes = std::span<const uint8_t>;

struct Prefixes {
  size_t count = 0;
  bool short_operand = false;  // 66
  bool wide = false;           // REX.W
};

Prefixes ReadPrefixes(Bytes code) {
  Prefixes prefixes;
  for (; prefixes.count < code.size(); ++prefixes.count) {
    const uint8_t byte = code[prefixes.count];
    const bool legacy = byte == 0x26 || byte == 0x2e || byte == 0x36 || byte == 0x3e ||
                        (byte >= 0x64 && byte <= 0x67) || byte == 0xf0 || byte == 0xf2 || byte == 0xf3;
    if (!legacy) break;
    prefixes.short_operand |= byte == 0x66;
  }
  if (prefixes.count < code.size() && (code[prefixes.count] & 0xf0) == 0x40)
    prefixes.wide = (code[prefixes.count++] & 8) != 0;
  return prefixes;
}

// The operands after the opcode: a ModRM byte with its address, and so many bytes of constants.
struct Operands {
  bool valid = true;
  bool modrm = false;
  size_t constant = 0;
};
constexpr Operands kInvalid{.valid = false};

Operands OneByteOperands(uint8_t opcode, uint8_t next, const Prefixes& prefixes) {
  const size_t constant = prefixes.short_operand && !prefixes.wide ? 2 : 4;
  if (opcode < 0x40) {
    switch (opcode & 7) {
      case 4:
        return {.constant = 1};
      case 5:
        return {.constant = constant};
      case 6:
      case 7:
        return kInvalid;
      default:
        return {.modrm = true};
    }
  }
  if (opcode >= 0x70 && opcode <= 0x7f) return {.constant = 1};
  if (opcode >= 0xb0 && opcode <= 0xb7) return {.constant = 1};
  if (opcode >= 0xb8 && opcode <= 0xbf) return {.constant = prefixes.wide ? 8 : constant};
  if (opcode >= 0xd8 && opcode <= 0xdf) return {.modrm = true};
  if (opcode >= 0x84 && opcode <= 0x8f) return {.modrm = true};
  switch (opcode) {
    case 0x60:
    case 0x61:
    case 0x82:
    case 0x9a:
    case 0xce:
    case 0xd4:
    case 0xd5:
    case 0xd6:
    case 0xea:
      return kInvalid;
    case 0x63:
    case 0xd0:
    case 0xd1:
    case 0xd2:
    case 0xd3:
    case 0xfe:
    case 0xff:
      return {.modrm = true};
    case 0x69:
    case 0x81:
    case 0xc7:
      return {.modrm = true, .constant = constant};
    case 0x6b:
    case 0x80:
    case 0x83:
    case 0xc0:
    case 0xc1:
    case 0xc6:
      return {.modrm = true, .constant = 1};
    case 0x68:
    case 0xa9:
      return {.constant = constant};
    case 0x6a:
    case 0xa8:
    case 0xcd:
    case 0xeb:
      return {.constant = 1};
    case 0xa0:
    case 0xa1:
    case 0xa2:
    case 0xa3:
      return {.constant = 8};
    case 0xc2:
    case 0xca:
      return {.constant = 2};
    case 0xc8:
      return {.constant = 3};
    case 0xe8:
    case 0xe9:
      return {.constant = 4};
    case 0xf6:
      return {.modrm = true, .constant = (next >> 3 & 7) < 2 ? size_t{1} : 0};
    case 0xf7:
      return {.modrm = true, .constant = (next >> 3 & 7) < 2 ? constant : 0};
    default:
      return opcode >= 0xe0 && opcode <= 0xe7 ? Operands{.constant = 1} : Operands{};
  }
}

// Of the opcodes behind 0f, and of their VEX and EVEX forms.
bool HasByteConstant(uint8_t opcode) {
  return (opcode >= 0x70 && opcode <= 0x73) || opcode == 0xa4 || opcode == 0xac || opcode == 0xba || opcode == 0xc2 ||
         (opcode >= 0xc4 && opcode <= 0xc6);
}

Operands TwoByteOperands(uint8_t opcode) {
  if (opcode >= 0x80 && opcode <= 0x8f) return {.constant = 4};
  const bool bare = (opcode >= 0x05 && opcode <= 0x0b) || (opcode >= 0x30 && opcode <= 0x37) || opcode == 0x77 ||
                    (opcode >= 0xa0 && opcode <= 0xa2) || (opcode >= 0xa8 && opcode <= 0xaa) ||
                    (opcode >= 0xc8 && opcode <= 0xcf);
  if (bare) return {};
  return {.modrm = true, .constant = HasByteConstant(opcode) ? size_t{1} : 0};
}

// The ModRM byte, an SIB byte, a displacement.
std::optional<size_t> AddressLength(Bytes code) {
  if (code.empty()) return std::nullopt;
  const int mode = code[0] >> 6, base = code[0] & 7;
  if (mode == 3) return 1;
  size_t length = 1;
  bool absolute = mode == 0 && base == 5;
  if (base == 4) {
    if (code.size() < 2) return std::nullopt;
    absolute = mode == 0 && (code[1] & 7) == 5;
    ++length;
  }
  if (mode == 1) length += 1;
  if (mode == 2 || absolute) length += 4;
  return length;
}

struct Opcode {
  size_t length = 0;  // up to where its operands start
  Operands operands;
};

// VEX and EVEX: the map of opcodes is in a few bits of the prefix.
Opcode VectorOpcode(Bytes code, size_t at) {
  const uint8_t prefix = code[at];
  const size_t prefix_bytes = prefix == 0xc5 ? 2 : prefix == 0xc4 ? 3 : 4;
  if (code.size() <= at + prefix_bytes) return {0, kInvalid};
  const int map = prefix == 0xc5 ? 1 : code[at + 1] & (prefix == 0xc4 ? 0x1f : 7);
  const uint8_t opcode = code[at + prefix_bytes];
  if (map == 1 && opcode == 0x77) return {at + prefix_bytes + 1, {}};
  const bool constant = map == 3 || (map == 1 && HasByteConstant(opcode));
  return {at + prefix_bytes + 1, {.modrm = true, .constant = constant ? size_t{1} : 0}};
}

Opcode ReadOpcode(Bytes code, const Prefixes& prefixes) {
  const size_t at = prefixes.count;
  const auto byte = [&](size_t index) { return at + index < code.size() ? code[at + index] : uint8_t{0}; };
  if (byte(0) == 0xc4 || byte(0) == 0xc5 || byte(0) == 0x62) return VectorOpcode(code, at);
  if (byte(0) != 0x0f) return {at + 1, OneByteOperands(byte(0), byte(1), prefixes)};
  if (byte(1) == 0x38) return {at + 3, {.modrm = true}};
  if (byte(1) == 0x3a) return {at + 3, {.modrm = true, .constant = 1}};
  return {at + 2, TwoByteOperands(byte(1))};
}

bool StartsWithKernelEntry(Bytes code) {
  const auto is = [&](uint8_t first, uint8_t second) {
    return code.size() >= 2 && code[0] == first && code[1] == second;
  };
  return is(0x0f, 0x05) || is(0x0f, 0x34) || is(0xcd, 0x80);
}

bool HoldsKernelEntry(Bytes code) {
  for (; code.size() >= 2; code = code.subspan(1))
    if (StartsWithKernelEntry(code)) return true;
  return false;
}

// How far a jump or call to a place that stands in the instruction itself goes from its end; nothing for all others.
std::optional<int64_t> JumpDistance(Bytes instruction) {
  const Bytes code = instruction.subspan(ReadPrefixes(instruction).count);
  const auto distance = [&](size_t at) {
    int64_t bytes = 0;
    for (size_t i = 0; i < code.size() - at; ++i) bytes |= int64_t(code[at + i]) << 8 * i;
    const int unused_bits = 64 - 8 * int(code.size() - at);
    return bytes << unused_bits >> unused_bits;
  };
  const uint8_t opcode = code.empty() ? 0 : code[0];
  const bool is_long = opcode == 0xe8 || opcode == 0xe9;
  const bool is_short = opcode == 0xeb || (opcode & 0xf0) == 0x70 || (opcode & 0xfc) == 0xe0;
  if ((is_long && code.size() == 5) || (is_short && code.size() == 2)) return distance(1);
  if (opcode == 0x0f && code.size() == 6 && (code[1] & 0xf0) == 0x80) return distance(2);
  return std::nullopt;
}

// The instructions of a section, followed from the starts of its functions.
class FollowedCode {
 public:
  FollowedCode(Bytes code, std::span<const uint64_t> starts) : code_(code), is_instruction_(code.size()) {
    uint64_t from = 0;
    for (const uint64_t start : starts) {
      if (start <= from || start > code.size()) continue;
      Follow(from, start);
      from = start;
    }
    Follow(from, code.size());
  }

  bool enters_the_kernel() const {
    return enters_ || std::any_of(targets_.begin(), targets_.end(),
                                  [this](uint64_t target) { return !is_instruction_[target] && HidesAnEntry(target); });
  }

 private:
  void Follow(uint64_t from, uint64_t to) {
    while (from < to) {
      const Bytes rest = code_.subspan(from, to - from);
      const std::optional<size_t> length = InstructionLength(rest);
      if (!length) {
        enters_ = enters_ || HoldsKernelEntry(rest);
        std::fill(is_instruction_.begin() + int64_t(from), is_instruction_.begin() + int64_t(to), true);
        return;
      }
      is_instruction_[from] = true;
      enters_ = enters_ || StartsWithKernelEntry(rest.subspan(std::min(ReadPrefixes(rest).count, *length)));
      from += *length;
      const std::optional<int64_t> distance = JumpDistance(rest.first(*length));
      if (const uint64_t target = from + uint64_t(distance.value_or(0)); distance && target < code_.size())
        targets_.push_back(target);
    }
  }
  // A jump into the middle of an instruction decodes other instructions, which soon meet the first ones again.
  bool HidesAnEntry(uint64_t at) const {
    for (int followed = 0; followed < 16 && at < code_.size() && !is_instruction_[at]; ++followed) {
      const Bytes rest = code_.subspan(at);
      const std::optional<size_t> length = InstructionLength(rest);
      if (!length) return false;
      if (StartsWithKernelEntry(rest.subspan(std::min(ReadPrefixes(rest).count, *length)))) return true;
      at += *length;
    }
    return false;
  }

  const Bytes code_;
  std::vector<bool> is_instruction_;  // whether one starts here, as far as that is known
  std::vector<uint64_t> targets_;     // of jumps and calls
  bool enters_ = false;
};

}  // namespace

std::optional<size_t> InstructionLength(Bytes code) {
  const Prefixes prefixes = ReadPrefixes(code);
  if (prefixes.count >= code.size()) return std::nullopt;
  const Opcode opcode = ReadOpcode(code, prefixes);
  if (!opcode.operands.valid || opcode.length > code.size()) return std::nullopt;
  size_t length = opcode.length;
  if (opcode.operands.modrm) {
    const std::optional<size_t> address = AddressLength(code.subspan(length));
    if (!address) return std::nullopt;
    length += *address;
  }
  length += opcode.operands.constant;
  if (length > std::min<size_t>(code.size(), 15)) return std::nullopt;
  return length;
}

bool EntersTheKernel(Bytes code, std::span<const uint64_t> starts) {
  return FollowedCode(code, starts).enters_the_kernel();
}

}  // namespace gemmsmith
