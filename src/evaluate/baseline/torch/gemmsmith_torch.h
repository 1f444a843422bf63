/* torch.matmul behind a C interface, so that the judge can open it where torch is and does without it where torch is not.
 * All functions are called from one thread; texts stay until the next call. */
#pragma once

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define GEMMSMITH_TORCH_ABI 1

/* Row-major C[m, n] = A B. Leading dimensions in elements; A and B row-major or, where not, column-major. */
typedef struct {
  const void* a;
  const void* b;
  void* c;
  int64_t m, n, k;
  int64_t lda, ldb, ldc;
  int32_t a_is_row_major, b_is_row_major;
  int32_t is_bf16;
} GemmsmithTorchGemm;

int gemmsmith_torch_abi(void);
/* "torch 2.11.0, cublaslt 13.1.0". */
const char* gemmsmith_torch_version(void);
/* Every later call puts its work on this stream (a cudaStream_t) of this device. 0, or not: then there is an error. */
int gemmsmith_torch_open(int device, void* stream);
/* Tensors over the operands; null where that failed. */
void* gemmsmith_torch_bind(const GemmsmithTorchGemm* gemm);
/* torch.matmul(a, b, out=c). 0, or not. */
int gemmsmith_torch_call(void* bound);
void gemmsmith_torch_close(void* bound);
/* What went wrong last. */
const char* gemmsmith_torch_error(void);

#ifdef __cplusplus
}
#endif
