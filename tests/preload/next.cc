// Made into two libraries that both have WhichLibrary(). The first of them asks for the one behind it by RTLD_NEXT.
#include <dlfcn.h>

extern "C" const char* WhichLibrary() { return WHICH_LIBRARY; }

#ifdef IS_FIRST_LIBRARY
extern "C" const char* WhichLibraryIsNext() {
  const auto next = reinterpret_cast<const char* (*)()>(dlsym(RTLD_NEXT, "WhichLibrary"));
  return next == nullptr ? "none" : next();
}
#endif
