#include "compile/elf.h"

#include <elf.h>

#include <cstring>

namespace gemmsmith {

namespace {

using Bytes = std::span<const uint8_t>;

bool Contains(Bytes bytes, uint64_t offset, uint64_t size) {
  return offset <= bytes.size() && size <= bytes.size() - offset;
}

template <class T>
T Load(Bytes bytes, uint64_t offset) {
  T value;
  std::memcpy(&value, bytes.data() + offset, sizeof value);
  return value;
}

// The zero-terminated text at an offset of a string table; nullopt where it runs past the end.
std::optional<std::string_view> TextAt(Bytes table, uint64_t offset) {
  if (offset >= table.size()) return std::nullopt;
  const auto* first = reinterpret_cast<const char*>(table.data() + offset);
  const void* end = std::memchr(first, 0, table.size() - offset);
  if (end == nullptr) return std::nullopt;
  return std::string_view(first, static_cast<const char*>(end) - first);
}

Status DamagedElf(std::string_view what) { return DataLoss(fmt::format("damaged ELF file: {}", what)); }

Status ReadSymbols(const ElfSection& section, const std::vector<ElfSection>& sections,
                   std::vector<ElfSymbol>& symbols) {
  if (section.link >= sections.size()) return DamagedElf("a symbol table without names");
  const Bytes names = sections[section.link].bytes;
  for (uint64_t at = 0; Contains(section.bytes, at, sizeof(Elf64_Sym)); at += sizeof(Elf64_Sym)) {
    const auto symbol = Load<Elf64_Sym>(section.bytes, at);
    const auto name = TextAt(names, symbol.st_name);
    if (!name) return DamagedElf("a symbol name past its table");
    symbols.push_back(
        {*name, symbol.st_shndx, uint8_t(ELF64_ST_TYPE(symbol.st_info)), symbol.st_value, symbol.st_size});
  }
  return OkStatus();
}

// Entries of a SHT_REL section are those of a SHT_RELA section without their last word.
void ReadRelocations(const ElfSection& section, std::vector<ElfRelocation>& relocations) {
  const uint64_t size = section.type == SHT_RELA ? sizeof(Elf64_Rela) : sizeof(Elf64_Rel);
  for (uint64_t at = 0; Contains(section.bytes, at, size); at += size) {
    const auto relocation = Load<Elf64_Rel>(section.bytes, at);
    relocations.push_back({section.info, relocation.r_offset, uint32_t(ELF64_R_SYM(relocation.r_info))});
  }
}

}  // namespace

Result<ElfFile> ElfFile::Parse(Bytes bytes) {
  if (bytes.size() < sizeof(Elf64_Ehdr)) return DamagedElf("shorter than its header");
  const auto header = Load<Elf64_Ehdr>(bytes, 0);
  if (std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0) return DamagedElf("no ELF magic");
  if (header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_ident[EI_DATA] != ELFDATA2LSB)
    return DamagedElf("not 64-bit little-endian");
  if (header.e_shentsize != sizeof(Elf64_Shdr)) return DamagedElf("section headers of an unknown size");
  if (!Contains(bytes, header.e_shoff, uint64_t(header.e_shnum) * sizeof(Elf64_Shdr)))
    return DamagedElf("section headers past its end");
  if (header.e_shstrndx >= header.e_shnum) return DamagedElf("no section names");

  std::vector<Elf64_Shdr> headers(header.e_shnum);
  std::memcpy(headers.data(), bytes.data() + header.e_shoff, headers.size() * sizeof(Elf64_Shdr));
  ElfFile file;
  file.machine_ = header.e_machine;
  for (const Elf64_Shdr& section : headers) {
    ElfSection& added = file.sections_.emplace_back();
    added.type = section.sh_type;
    added.flags = section.sh_flags;
    added.address = section.sh_addr;
    added.link = section.sh_link;
    added.info = section.sh_info;
    added.size = section.sh_size;
    if (section.sh_type == SHT_NOBITS || section.sh_type == SHT_NULL) continue;
    if (!Contains(bytes, section.sh_offset, section.sh_size)) return DamagedElf("a section past its end");
    added.bytes = bytes.subspan(section.sh_offset, section.sh_size);
  }
  const Bytes names = file.sections_[header.e_shstrndx].bytes;
  for (size_t i = 1; i < headers.size(); ++i) {
    const auto name = TextAt(names, headers[i].sh_name);
    if (!name) return DamagedElf("a section name past its table");
    file.sections_[i].name = *name;
  }
  RETURN_IF_ERROR(file.ReadTables());
  return file;
}

Status ElfFile::ReadTables() {
  for (const ElfSection& section : sections_) {
    if (section.type == SHT_RELA || section.type == SHT_REL) ReadRelocations(section, relocations_);
    if (section.type == SHT_SYMTAB && symbols_.empty()) RETURN_IF_ERROR(ReadSymbols(section, sections_, symbols_));
  }
  return OkStatus();
}

std::span<const uint8_t> ElfFile::BytesAt(uint64_t address) const {
  for (const ElfSection& section : sections_)
    if ((section.flags & SHF_ALLOC) != 0 && address >= section.address &&
        address - section.address < section.bytes.size())
      return section.bytes.subspan(address - section.address);
  return {};
}

const ElfSection* ElfFile::FindSection(std::string_view name) const {
  for (const ElfSection& section : sections_)
    if (section.name == name) return &section;
  return nullptr;
}

}  // namespace gemmsmith
