// As encoded by CUDA 13.0.88 for sm_80 to sm_90a, checked with nvdisasm (November 2026; screening_test.cc compiles
// every case). An instruction has 16 bytes; its opcode is the low 12 bits.
//
// special registers   0x805 CS2R, 0x919 S2R, 0x9c3 S2UR: number in bits 72 to 79
//                     0x50 to 0x53 CLOCK and GLOBALTIMER, 0x64 to 0x73 PM0 to PM7
// constants           bits 9 to 11 of the opcode are 3 or 5: bank in bits 54 to 58, word in bits 40 to 53
//                     bank 0 holds %gridid at byte 0x30 and %current_graph_exec at byte 0x190
//                     bank 4 (section .nv.constant4) holds the addresses of all __device__ variables, used or not
//                     0xb82 LDC: bits 24 to 31 are 0xff unless a register is added to the place
#include "compile/screening.h"

#include <elf.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <optional>
#include <set>

#include "compile/elf.h"

namespace gemmsmith {

namespace {

class Reasons {
 public:
  void Add(std::string reason) {
    if (known_.insert(reason).second) reasons_.push_back(std::move(reason));
  }
  std::vector<std::string> Take() && { return std::move(reasons_); }

 private:
  std::vector<std::string> reasons_;
  std::set<std::string> known_;
};

// Empty for a register that is the same in every launch of one recipe.
const char* SpecialRegisterReason(uint64_t low, uint64_t high) {
  constexpr uint32_t kCs2r = 0x805, kS2r = 0x919, kS2ur = 0x9c3;
  const uint32_t opcode = low & 0xfff;
  if (opcode != kCs2r && opcode != kS2r && opcode != kS2ur) return nullptr;
  const uint32_t number = high >> 8 & 0xff;
  if (number >= 0x50 && number <= 0x53) return "reads a clock";
  return number >= 0x64 && number <= 0x73 ? "reads a performance counter" : nullptr;
}

struct Constant {
  uint64_t bank = 0, at = 0;
  bool is_indexed = false;
};

std::optional<Constant> ConstantOf(uint64_t low) {
  constexpr uint32_t kLdc = 0xb82;
  const uint32_t operands = low >> 9 & 7;
  if (operands != 3 && operands != 5) return std::nullopt;
  return Constant{low >> 54 & 0x1f, (low >> 40 & 0x3fff) * 4, (low & 0xfff) == kLdc && (low >> 24 & 0xff) != 0xff};
}

const char* ConstantReason(const Constant& constant) {
  constexpr uint64_t kGridId = 0x30, kGraphExec = 0x190;
  if (constant.bank != 0) return nullptr;
  const auto is_in = [&](uint64_t place) { return constant.at >= place && constant.at < place + 8; };
  if (is_in(kGridId)) return "reads %gridid, which tells launches apart";
  return is_in(kGraphExec) ? "reads %current_graph_exec, which tells launches apart" : nullptr;
}

// Which addresses of __device__ variables the code reads.
struct AddressReads {
  std::set<uint64_t> places;  // in bank 4, of 8 bytes each
  bool any = false;           // by an index
  bool Includes(uint64_t place) const { return any || places.count(place / 8) > 0; }
};

void ScreenInstructions(const ElfSection& section, AddressReads& reads, Reasons& reasons) {
  constexpr std::string_view kText = ".text.";
  const std::string_view kernel = section.name.starts_with(kText) ? section.name.substr(kText.size()) : section.name;
  for (size_t at = 0; at + kInstructionBytes <= section.bytes.size(); at += kInstructionBytes) {
    uint64_t low = 0, high = 0;
    std::memcpy(&low, section.bytes.data() + at, 8);
    std::memcpy(&high, section.bytes.data() + at + 8, 8);
    const std::optional<Constant> constant = ConstantOf(low);
    for (const char* reason : {SpecialRegisterReason(low, high), constant ? ConstantReason(*constant) : nullptr})
      if (reason != nullptr) reasons.Add(fmt::format("kernel {} {}", kernel, reason));
    if (!constant || constant->bank != 4) continue;
    reads.places.insert(constant->at / 8);
    reads.any |= constant->is_indexed;
  }
}

std::string FunctionReason(std::string_view function) {
  if (function == "vprintf") return "calls printf on the device";
  if (function == "__assertfail") return "calls assert on the device";
  if (function == "free" || function.find("malloc") != std::string_view::npos)
    return fmt::format("calls {} on the device, whose heap outlives the call", function);
  return fmt::format("calls {} on the device, which nothing defines", function);
}

// CuTe declares variables that no code uses; those are no memory to keep things in.
void ScreenVariables(const ElfFile& file, const AddressReads& reads, Reasons& reasons) {
  const auto name_of = [&](uint32_t section) {
    return section < file.sections().size() ? file.sections()[section].name : std::string_view();
  };
  for (const ElfRelocation& relocation : file.relocations()) {
    if (relocation.symbol >= file.symbols().size()) continue;
    const ElfSymbol& symbol = file.symbols()[relocation.symbol];
    const std::string_view place = name_of(relocation.section);
    const bool is_read = place != ".nv.constant4" || reads.Includes(relocation.offset);
    if (is_read && name_of(symbol.section).starts_with(".nv.global"))
      reasons.Add(fmt::format("uses the __device__ variable {}, which outlives the call; __constant__ is allowed",
                              symbol.name));
  }
}

}  // namespace

std::vector<std::string> ScreenMachineCode(std::span<const uint8_t> cubin) {
  const Result<ElfFile> file = ElfFile::Parse(cubin);
  if (!file.ok()) return {file.status().message()};
  Reasons reasons;
  AddressReads reads;
  for (const ElfSection& section : file->sections())
    if ((section.flags & SHF_EXECINSTR) != 0) ScreenInstructions(section, reads, reasons);
  ScreenVariables(*file, reads, reasons);
  for (const ElfSymbol& symbol : file->symbols())
    if (symbol.type == STT_FUNC && symbol.section == SHN_UNDEF) reasons.Add(FunctionReason(symbol.name));
  return std::move(reasons).Take();
}

}  // namespace gemmsmith
