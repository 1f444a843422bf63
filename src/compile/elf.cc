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

Status Damaged(std::string_view what) { return DataLoss(fmt::format("damaged ELF file: {}", what)); }

}  // namespace

Result<ElfFile> ElfFile::Parse(Bytes bytes) {
  if (bytes.size() < sizeof(Elf64_Ehdr)) return Damaged("shorter than its header");
  const auto header = Load<Elf64_Ehdr>(bytes, 0);
  if (std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0) return Damaged("no ELF magic");
  if (header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_ident[EI_DATA] != ELFDATA2LSB)
    return Damaged("not 64-bit little-endian");
  if (header.e_shentsize != sizeof(Elf64_Shdr)) return Damaged("section headers of an unknown size");
  if (!Contains(bytes, header.e_shoff, uint64_t(header.e_shnum) * sizeof(Elf64_Shdr)))
    return Damaged("section headers past its end");
  if (header.e_shstrndx >= header.e_shnum) return Damaged("no section names");

  std::vector<Elf64_Shdr> headers(header.e_shnum);
  std::memcpy(headers.data(), bytes.data() + header.e_shoff, headers.size() * sizeof(Elf64_Shdr));
  ElfFile file;
  file.machine_ = header.e_machine;
  for (const Elf64_Shdr& section : headers) {
    ElfSection& added = file.sections_.emplace_back();
    added.type = section.sh_type;
    added.size = section.sh_size;
    if (section.sh_type == SHT_NOBITS || section.sh_type == SHT_NULL) continue;
    if (!Contains(bytes, section.sh_offset, section.sh_size)) return Damaged("a section past its end");
    added.bytes = bytes.subspan(section.sh_offset, section.sh_size);
  }
  const Bytes names = file.sections_[header.e_shstrndx].bytes;
  for (size_t i = 1; i < headers.size(); ++i) {
    const auto name = TextAt(names, headers[i].sh_name);
    if (!name) return Damaged("a section name past its table");
    file.sections_[i].name = *name;
  }

  for (size_t i = 0; i < headers.size(); ++i) {
    if (headers[i].sh_type != SHT_SYMTAB) continue;
    if (headers[i].sh_link >= headers.size()) return Damaged("a symbol table without names");
    const Bytes table = file.sections_[i].bytes;
    const Bytes symbol_names = file.sections_[headers[i].sh_link].bytes;
    for (uint64_t at = 0; Contains(table, at, sizeof(Elf64_Sym)); at += sizeof(Elf64_Sym)) {
      const auto symbol = Load<Elf64_Sym>(table, at);
      const auto name = TextAt(symbol_names, symbol.st_name);
      if (!name) return Damaged("a symbol name past its table");
      file.symbols_.push_back({*name, symbol.st_shndx});
    }
    break;
  }
  return file;
}

const ElfSection* ElfFile::FindSection(std::string_view name) const {
  for (const ElfSection& section : sections_)
    if (section.name == name) return &section;
  return nullptr;
}

}  // namespace gemmsmith
