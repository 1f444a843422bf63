// dlsym() as the program calls it: JAX and others reach cuBLAS by it alone.
#include <dlfcn.h>

#include <cstring>

#include "preload/real.h"
#include "preload/settings.h"

namespace gemmsmith {
namespace {

// Ours for the real one of the library that ours pass calls on to; any other address as it is. Null where ours alone
// was found: the process has no cuBLAS.
void* Interposed(const char* name, void* found) {
  const RealCublas* const cublas = DefaultReal<RealCublas>();
  const RealLt* const lt = DefaultReal<RealLt>();
#define GEMMSMITH_REPLACE(library, function, Type)                                              \
  if (std::strcmp(name, #function) == 0) {                                                      \
    void* const ours = reinterpret_cast<void*>(static_cast<Type*>(&::function));                \
    if (library == nullptr) return found == ours ? nullptr : found;                             \
    return found == reinterpret_cast<void*>(library->function) || found == ours ? ours : found; \
  }
#define GEMMSMITH_REPLACE_CUBLAS(function, Type) GEMMSMITH_REPLACE(cublas, function, Type)
#define GEMMSMITH_REPLACE_LT(function, Type) GEMMSMITH_REPLACE(lt, function, Type)
  GEMMSMITH_PRELOAD_CUBLAS(GEMMSMITH_REPLACE_CUBLAS)
  GEMMSMITH_PRELOAD_LT(GEMMSMITH_REPLACE_LT)
  return found;
}

void* DlsymOfCublas(void* handle, const char* name) {
  void* const found = RealDlsym()(handle, name);
  if (found == nullptr || PreloadSettings::Get().mode == PreloadMode::kOff) return found;
  void* const answer = Interposed(name, found);
  dlerror();  // of libraries that the process does not have
  return answer;
}

}  // namespace
}  // namespace gemmsmith

// Leaves by a jump for every other name: RTLD_NEXT means "after the caller", which the real one reads from its return
// address. The build turns the optimisation on that makes it a jump; a test looks.
extern "C" void* dlsym(void* handle, const char* name) noexcept {
  const gemmsmith::DlsymFunction real = gemmsmith::RealDlsym();
  if (std::strncmp(name, "cublas", 6) != 0) return real(handle, name);
  return gemmsmith::DlsymOfCublas(handle, name);
}
