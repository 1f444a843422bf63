// Where a cubin holds these facts, as measured with CUDA 13.0.88 on kernels for sm_80, sm_89, sm_90a and sm_120
// (November 2026). facts_test.cc repeats the measurement and, where nvdisasm is installed, compares with it.
//
// registers       .nv.info, attribute REGCOUNT {symbol, count}. The top byte of sh_info of the text section holds the
//                 same on sm_80 and sm_89, but is 0 on sm_90a and sm_120.
// local bytes     .nv.info, attribute MIN_STACK_SIZE {symbol, bytes}: what ptxas calls the cumulative stack size, the
//                 kernel's own frame and those of the functions it calls. (FRAME_SIZE leaves the callees out; a
//                 recursion is in neither, its LDL and STL are counted.)
// static smem     size of .nv.shared.ENTRY. On sm_90 and later that section starts with the 1024 bytes that the system
//                 keeps of each CTA, and the file has a section .nv.shared.reserved.0.
// instructions    16 bytes each; the opcode is the low 12 bits, of which bits 9-11 say what kind of operands follow.
//                   0x918 NOP   0x983 LDL   0x387 STL
//                   0x23c HMMA, dense and sparse: bit 76 set = f32 accumulator, clear = f16
//                         (bits 74, 75 shape; 82 bf16, 83 tf32)
//                   0x9f0 HGMMA with A from shared memory, 0xdf0 with A from registers: bit 75 set = f32 accumulator
//                         (bit 76 bf16, 77 tf32); bits 16-23 destination. ptxas adds HGMMA.64x8x16.F16 into RZ where
//                         it injects a warpgroup.arrive; that one computes nothing.
#include "compile/facts.h"

#include <elf.h>

#include <algorithm>
#include <cstring>
#include <optional>
#include <set>
#include <string>

#include "compile/elf.h"

namespace gemmsmith {

namespace {

constexpr uint64_t kReservedSmemBytes = 1024;

constexpr uint8_t kAttributeMinStackSize = 0x12;
constexpr uint8_t kAttributeRegisterCount = 0x2f;

struct Instruction {
  uint64_t low = 0, high = 0;
  uint32_t opcode() const { return low & 0xfff; }
  uint32_t destination() const { return low >> 16 & 0xff; }
  bool bit(int index) const { return (index < 64 ? low >> index : high >> (index - 64)) & 1; }
};

Instruction InstructionAt(std::span<const uint8_t> code, size_t index) {
  Instruction instruction;
  std::memcpy(&instruction.low, code.data() + index * kInstructionBytes, 8);
  std::memcpy(&instruction.high, code.data() + index * kInstructionBytes + 8, 8);
  return instruction;
}

constexpr uint32_t kNop = 0x918, kLdl = 0x983, kStl = 0x387, kHmma = 0x23c, kHgmmaShared = 0x9f0,
                   kHgmmaRegister = 0xdf0;
constexpr int kHmmaF32Bit = 76, kHgmmaF32Bit = 75;
constexpr uint32_t kZeroRegister = 255;

void CountInstructions(std::span<const uint8_t> code, CodeFacts& facts) {
  size_t count = code.size() / kInstructionBytes;
  while (count > 0 && InstructionAt(code, count - 1).opcode() == kNop) --count;
  facts.instructions = int(count);
  for (size_t i = 0; i < count; ++i) {
    const Instruction instruction = InstructionAt(code, i);
    switch (instruction.opcode()) {
      case kLdl:
      case kStl:
        ++facts.local_memory_instructions;
        break;
      case kHmma:
        ++(instruction.bit(kHmmaF32Bit) ? facts.mma_f32 : facts.mma_f16);
        break;
      case kHgmmaShared:
      case kHgmmaRegister:
        if (instruction.destination() == kZeroRegister) break;
        ++(instruction.bit(kHgmmaF32Bit) ? facts.wgmma_f32 : facts.wgmma_f16);
        break;
      default:
        break;
    }
  }
}

// .nv.info is a list of {format, attribute, 16 bits}; format 4 says that as many bytes follow as the 16 bits tell.
std::optional<uint32_t> FindSymbolAttribute(std::span<const uint8_t> info, uint8_t attribute, uint32_t symbol) {
  constexpr uint8_t kFormatSized = 4;
  while (info.size() >= 4) {
    const bool sized = info[0] == kFormatSized;
    const uint8_t found = info[1];
    const size_t value_bytes = sized ? info[2] | size_t(info[3]) << 8 : 0;
    info = info.subspan(4);
    if (value_bytes > info.size()) return std::nullopt;
    if (sized && found == attribute && value_bytes == 8) {
      uint32_t pair[2];
      std::memcpy(pair, info.data(), sizeof pair);
      if (pair[0] == symbol) return pair[1];
    }
    info = info.subspan(value_bytes);
  }
  return std::nullopt;
}

}  // namespace

Result<CodeFacts> ReadCodeFacts(std::span<const uint8_t> cubin, std::string_view entry) {
  ASSIGN_OR_RETURN(const ElfFile file, ElfFile::Parse(cubin));
  if (file.machine() != EM_CUDA) return DataLoss("not a cubin: the ELF file is for another machine");
  const ElfSection* text = file.FindSection(fmt::format(".text.{}", entry));
  if (text == nullptr) return NotFound(fmt::format("the cubin has no kernel named '{}'", entry));
  const auto section_index = uint32_t(text - file.sections().data());
  std::optional<uint32_t> symbol;
  for (uint32_t i = 0; i < file.symbols().size() && !symbol; ++i)
    if (file.symbols()[i].name == entry && file.symbols()[i].section == section_index) symbol = i;
  const ElfSection* info = file.FindSection(".nv.info");
  if (!symbol || info == nullptr) return DataLoss(fmt::format("the cubin says nothing about kernel '{}'", entry));
  const auto registers = FindSymbolAttribute(info->bytes, kAttributeRegisterCount, *symbol);
  const auto stack = FindSymbolAttribute(info->bytes, kAttributeMinStackSize, *symbol);
  if (!registers || *registers > 256) return DataLoss(fmt::format("no register count for kernel '{}'", entry));

  CodeFacts facts;
  facts.registers = int(*registers);
  facts.local_bytes = int(stack.value_or(0) & INT32_MAX);
  facts.code_bytes = int(text->bytes.size());
  if (const ElfSection* shared = file.FindSection(fmt::format(".nv.shared.{}", entry)); shared != nullptr) {
    const uint64_t reserved = file.FindSection(".nv.shared.reserved.0") != nullptr ? kReservedSmemBytes : 0;
    if (shared->size < reserved || shared->size > INT32_MAX)
      return DataLoss(fmt::format("impossible shared memory of kernel '{}'", entry));
    facts.static_smem_bytes = int(shared->size - reserved);
  }
  CountInstructions(text->bytes, facts);
  return facts;
}

Result<std::vector<KernelFacts>> ReadAllCodeFacts(std::span<const uint8_t> cubin) {
  constexpr std::string_view kText = ".text.";
  ASSIGN_OR_RETURN(const ElfFile file, ElfFile::Parse(cubin));
  if (file.machine() != EM_CUDA) return DataLoss("not a cubin: the ELF file is for another machine");
  std::set<std::string> names;
  for (const ElfSection& section : file.sections())
    if (section.name.starts_with(kText)) names.emplace(section.name.substr(kText.size()));
  std::vector<KernelFacts> kernels;
  for (const std::string& name : names) {
    ASSIGN_OR_RETURN(CodeFacts facts, ReadCodeFacts(cubin, name));
    kernels.push_back({name, facts});
  }
  return kernels;
}

void Include(const CodeFacts& more, CodeFacts& facts) {
  for (int CodeFacts::*greatest : {&CodeFacts::registers, &CodeFacts::local_bytes, &CodeFacts::static_smem_bytes})
    facts.*greatest = std::max(facts.*greatest, more.*greatest);
  for (int CodeFacts::*sum : {&CodeFacts::code_bytes, &CodeFacts::instructions, &CodeFacts::local_memory_instructions,
                              &CodeFacts::mma_f32, &CodeFacts::mma_f16, &CodeFacts::wgmma_f32, &CodeFacts::wgmma_f16})
    facts.*sum += more.*sum;
}

Status FinishCompilation(std::vector<uint8_t> cubin, const std::string& entry, Compilation& compilation) {
  Result<CodeFacts> facts = ReadCodeFacts(cubin, entry);
  if (facts.status().code() == StatusCode::kNotFound) {
    compilation.succeeded = false;
    compilation.log += fmt::format("error: the source defines no extern \"C\" __global__ function '{}'\n", entry);
    return OkStatus();
  }
  ASSIGN_OR_RETURN(compilation.binary.facts, std::move(facts));
  compilation.succeeded = true;
  compilation.binary.entry = entry;
  compilation.binary.cubin = std::move(cubin);
  return OkStatus();
}

}  // namespace gemmsmith
