// What the pretended libraries counted.
#pragma once

#include <cublas_v2.h>

#include <cstdint>

extern "C" {
int64_t FakeCublasCalls();
int64_t FakeCublasLtCalls();
}
