// A bounds-checked view of a 64-bit little-endian ELF file, just deep enough for cubins and programs.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "base/status.h"

namespace gemmsmith {

// Of machine code, on every device that is compiled for.
inline constexpr size_t kInstructionBytes = 16;

struct ElfSection {
  std::string_view name;
  uint32_t type = 0;
  uint64_t flags = 0;
  uint64_t address = 0;
  uint32_t link = 0, info = 0;
  uint64_t size = 0;               // of a section without bytes in the file too
  std::span<const uint8_t> bytes;  // empty where the file holds none (SHT_NOBITS)
};

struct ElfSymbol {
  std::string_view name;
  uint32_t section = 0;  // 0: defined elsewhere
  uint8_t type = 0;      // STT_...
  uint64_t value = 0;
  uint64_t size = 0;
};

// A place of a section that the loader fills from a symbol.
struct ElfRelocation {
  uint32_t section = 0;
  uint64_t offset = 0;
  uint32_t symbol = 0;
};

// The bytes must outlive the view. Any bytes at all may be given: what does not fit is DataLoss.
class ElfFile {
 public:
  static Result<ElfFile> Parse(std::span<const uint8_t> bytes);

  uint16_t machine() const { return machine_; }
  const std::vector<ElfSection>& sections() const { return sections_; }
  const std::vector<ElfSymbol>& symbols() const { return symbols_; }  // by their index in .symtab
  const std::vector<ElfRelocation>& relocations() const { return relocations_; }
  const ElfSection* FindSection(std::string_view name) const;  // null when there is none
  // The bytes in the file from a virtual address to the end of its section; empty where there are none.
  std::span<const uint8_t> BytesAt(uint64_t address) const;

 private:
  ElfFile() = default;
  Status ReadTables();
  uint16_t machine_ = 0;
  std::vector<ElfSection> sections_;
  std::vector<ElfSymbol> symbols_;
  std::vector<ElfRelocation> relocations_;
};

}  // namespace gemmsmith
