#include "preload/real.h"

#include <dlfcn.h>
#include <elf.h>
#include <link.h>

#include <array>
#include <atomic>
#include <cstring>

#include "gpu/symbol.h"

namespace gemmsmith {

namespace {

constexpr size_t kVersions = std::size(RealCublas::kSonames);

template <class Function>
void Resolve(void* library, const char* name, Function& function) {
  function = reinterpret_cast<Function>(RealDlsym()(library, name));
}

// Null: the process does not have it. It stays loaded for ever.
template <class Functions>
const Functions* OfVersion(size_t version) {
  static std::array<std::atomic<const Functions*>, kVersions> loaded;
  if (const Functions* const known = loaded[version].load(std::memory_order_acquire)) return known;
  void* const library = dlopen(Functions::kSonames[version], RTLD_LAZY | RTLD_NOLOAD);
  if (library == nullptr) return nullptr;
  const auto* const made = new Functions(library);
  const Functions* expected = nullptr;
  if (loaded[version].compare_exchange_strong(expected, made)) return made;
  delete made;
  return expected;
}

// The version that the object at the address needs by its own list of libraries; kVersions: none.
template <class Functions>
size_t VersionNeededBy(const void* address) {
  Dl_info info{};
  link_map* object = nullptr;
  if (dladdr1(address, &info, reinterpret_cast<void**>(&object), RTLD_DL_LINKMAP) == 0 || object == nullptr)
    return kVersions;
  const char* names = nullptr;
  for (const ElfW(Dyn)* entry = object->l_ld; entry->d_tag != DT_NULL; ++entry)
    if (entry->d_tag == DT_STRTAB) names = reinterpret_cast<const char*>(entry->d_un.d_ptr);
  if (names == nullptr) return kVersions;
  for (const ElfW(Dyn)* entry = object->l_ld; entry->d_tag != DT_NULL; ++entry)
    for (size_t version = 0; entry->d_tag == DT_NEEDED && version < kVersions; ++version)
      if (std::strcmp(names + entry->d_un.d_val, Functions::kSonames[version]) == 0) return version;
  return kVersions;
}

template <class Functions>
const Functions* Look(const void* caller) {
  const size_t version = VersionNeededBy<Functions>(caller);
  const Functions* const own = version == kVersions ? nullptr : OfVersion<Functions>(version);
  return own != nullptr ? own : DefaultReal<Functions>();
}

}  // namespace

#define GEMMSMITH_RESOLVE(name) Resolve(library, GEMMSMITH_SYMBOL(name), name);
#define GEMMSMITH_RESOLVE_TAKEN(name, Type) GEMMSMITH_RESOLVE(name)
RealCublas::RealCublas(void* library){
    GEMMSMITH_PRELOAD_CUBLAS(GEMMSMITH_RESOLVE_TAKEN)
        GEMMSMITH_PRELOAD_CUBLAS_ASKED(GEMMSMITH_RESOLVE)} RealLt::RealLt(void* library){
    GEMMSMITH_PRELOAD_LT(GEMMSMITH_RESOLVE_TAKEN) GEMMSMITH_PRELOAD_LT_ASKED(GEMMSMITH_RESOLVE)}
#undef GEMMSMITH_RESOLVE_TAKEN
#undef GEMMSMITH_RESOLVE

DlsymFunction RealDlsym() {
  static std::atomic<DlsymFunction> known = nullptr;
  if (const DlsymFunction real = known.load(std::memory_order_relaxed)) return real;
  // dlsym moved from libdl to libc in 2.34; x86-64 and aarch64 began with these versions.
  void* real = nullptr;
  for (const char* version : {"GLIBC_2.34", "GLIBC_2.2.5", "GLIBC_2.17"})
    if (real == nullptr) real = dlvsym(RTLD_NEXT, "dlsym", version);
  known.store(reinterpret_cast<DlsymFunction>(real), std::memory_order_relaxed);
  return reinterpret_cast<DlsymFunction>(real);
}

template <class Functions>
const Functions* DefaultReal() {
  static std::atomic<const Functions*> decided = nullptr;
  if (const Functions* const known = decided.load(std::memory_order_acquire)) return known;
  for (size_t version = 0; version < kVersions; ++version)
    if (const Functions* const found = OfVersion<Functions>(version)) {
      const Functions* expected = nullptr;
      return decided.compare_exchange_strong(expected, found) ? found : expected;
    }
  return nullptr;
}

// Call sites are few, and looking up an object takes a lock of the loader.
template <class Functions>
const Functions* RealFor(const void* caller) {
  struct Site {
    const void* caller = nullptr;
    const Functions* functions = nullptr;
  };
  static thread_local std::array<Site, 16> sites;
  Site& site = sites[(reinterpret_cast<uintptr_t>(caller) >> 2) % sites.size()];
  if (site.caller == caller) return site.functions;
  const Functions* const functions = Look<Functions>(caller);
  if (functions != nullptr) site = {caller, functions};
  return functions;
}

template const RealCublas* DefaultReal();
template const RealLt* DefaultReal();
template const RealCublas* RealFor(const void* caller);
template const RealLt* RealFor(const void* caller);

}  // namespace gemmsmith
