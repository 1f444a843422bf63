#include "evaluate/isolate/loaded_code.h"

#include <link.h>

#include "compile/fatbin.h"

namespace gemmsmith {

namespace {

struct Wanted {
  uint64_t from, bytes;
  bool is_found;
};

bool Holds(const dl_phdr_info& file, const ElfW(Phdr) & segment, const Wanted& wanted) {
  const uint64_t at = file.dlpi_addr + segment.p_vaddr;
  return segment.p_type == PT_LOAD && (segment.p_flags & PF_W) == 0 && wanted.from >= at &&
         wanted.from - at <= segment.p_filesz && wanted.bytes <= segment.p_filesz - (wanted.from - at);
}

int LookInto(dl_phdr_info* file, size_t, void* data) {
  auto& wanted = *static_cast<Wanted*>(data);
  for (int i = 0; i < file->dlpi_phnum && !wanted.is_found; ++i)
    wanted.is_found = Holds(*file, file->dlpi_phdr[i], wanted);
  return wanted.is_found ? 1 : 0;
}

}  // namespace

bool IsAsLoaded(const void* from, uint64_t bytes) {
  Wanted wanted{uint64_t(reinterpret_cast<uintptr_t>(from)), bytes, false};
  ::dl_iterate_phdr(&LookInto, &wanted);
  return wanted.is_found;
}

bool IsAsLoaded(const CodeWrapper& wrapper) {
  if (wrapper.magic != kFatbinWrapperMagic || wrapper.version != 1 || wrapper.linked != nullptr) return false;
  if (!IsAsLoaded(wrapper.code, kContainerHeaderBytes)) return false;
  return IsAsLoaded(wrapper.code, ContainerBytes(wrapper.code));
}

}  // namespace gemmsmith
