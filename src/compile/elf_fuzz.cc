// No bytes whatever may crash the reader of cubins.
#include <string>

#include "compile/elf.h"
#include "compile/facts.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::span<const uint8_t> bytes(data, size);
  const auto file = gemmsmith::ElfFile::Parse(bytes);
  if (!file.ok()) return 0;
  for (const auto& section : file->sections())
    if (section.name.starts_with(".text.")) static_cast<void>(gemmsmith::ReadCodeFacts(bytes, section.name.substr(6)));
  return 0;
}
