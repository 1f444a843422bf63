// The functions of cuBLASLt that the judge alone calls: they answer "not supported".
#include "fake/stub.h"
#include "gpu/cublaslt.h"

#define GEMMSMITH_STUB_ANSWER CUBLAS_STATUS_NOT_SUPPORTED
GEMMSMITH_LT_FUNCTIONS(GEMMSMITH_STUB)
