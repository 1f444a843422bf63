// Every driver function that the library asks for and the pretended driver lacks: it answers "not supported".
#include <cuda.h>

#include "gpu/driver.h"
#include "gpu/symbol.h"

#define GEMMSMITH_STUB_AS(counter, name)                                                 \
  extern "C" __attribute__((weak)) int stub_##counter() __asm__(GEMMSMITH_SYMBOL(name)); \
  extern "C" int stub_##counter() { return CUDA_ERROR_NOT_SUPPORTED; }
#define GEMMSMITH_STUB_OF(counter, name) GEMMSMITH_STUB_AS(counter, name)
#define GEMMSMITH_STUB(name) GEMMSMITH_STUB_OF(__COUNTER__, name)
GEMMSMITH_DRIVER_FUNCTIONS(GEMMSMITH_STUB)
