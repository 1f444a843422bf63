// Every driver function that the library asks for and the pretended driver lacks: it answers "not supported".
#include <cuda.h>

#include "fake/stub.h"
#include "gpu/driver.h"

#define GEMMSMITH_STUB_ANSWER CUDA_ERROR_NOT_SUPPORTED
GEMMSMITH_DRIVER_FUNCTIONS(GEMMSMITH_STUB)
