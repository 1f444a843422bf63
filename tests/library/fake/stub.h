// GEMMSMITH_STUB(name): a C function of a library that answers `GEMMSMITH_STUB_ANSWER`, where nobody else defines it.
#pragma once

#include "gpu/symbol.h"

#define GEMMSMITH_STUB_AS(counter, name)                                                 \
  extern "C" __attribute__((weak)) int stub_##counter() __asm__(GEMMSMITH_SYMBOL(name)); \
  extern "C" int stub_##counter() { return GEMMSMITH_STUB_ANSWER; }
#define GEMMSMITH_STUB_OF(counter, name) GEMMSMITH_STUB_AS(counter, name)
#define GEMMSMITH_STUB(name) GEMMSMITH_STUB_OF(__COUNTER__, name)
