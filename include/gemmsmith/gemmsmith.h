/* gemmsmith: half-precision matrix products on NVIDIA GPUs, by kernels that were proven and measured on this GPU model.
 * C99; no CUDA header is needed. Every function may be called from any thread. docs/library.md explains each of them.
 */
#ifndef GEMMSMITH_GEMMSMITH_H
#define GEMMSMITH_GEMMSMITH_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define GEMMSMITH_ABI 1 /* structs begin with their size and grow at the end only */

#if defined(__GNUC__)
#define GEMMSMITH_API __attribute__((visibility("default")))
#else
#define GEMMSMITH_API
#endif

typedef enum gemmsmith_status {
  GEMMSMITH_OK = 0,
  GEMMSMITH_INVALID_ARGUMENT = 1, /* the caller can mend the call */
  GEMMSMITH_NOT_SUPPORTED = 2,    /* no kernel of ours and none of cuBLASLt serves the problem */
  GEMMSMITH_NO_DRIVER = 3,
  GEMMSMITH_NO_DEVICE = 4,
  GEMMSMITH_NO_LIBRARY = 5, /* the problem needs cuBLASLt, which was not found */
  GEMMSMITH_OUT_OF_MEMORY = 6,
  GEMMSMITH_LAUNCH_FAILED = 7,
  GEMMSMITH_BAD_FILE = 8,
  GEMMSMITH_INTERNAL = 9
} gemmsmith_status;

typedef enum gemmsmith_type { GEMMSMITH_F16 = 1, GEMMSMITH_BF16 = 2, GEMMSMITH_F32 = 3 } gemmsmith_type;
typedef enum gemmsmith_order { GEMMSMITH_ROW = 0, GEMMSMITH_COLUMN = 1 } gemmsmith_order;
typedef enum gemmsmith_activation {
  GEMMSMITH_NO_ACTIVATION = 0,
  GEMMSMITH_RELU = 1,
  GEMMSMITH_GELU = 2 /* by tanh */
} gemmsmith_activation;

/* d = activation(alpha a b + beta c + bias), summed in f32, rounded once. Set it up by gemmsmith_problem_default(). */
typedef struct gemmsmith_problem {
  size_t size;
  int64_t m, n, k; /* a is m x k, b is k x n, c and d are m x n */
  int64_t batch;
  gemmsmith_order a_order, b_order, d_order; /* c is stored like d */
  int64_t lda, ldb, ldc, ldd;                /* elements between neighbouring rows (or columns); 0: packed */
  int64_t a_step, b_step, c_step, d_step;    /* elements between the matrices of a batch; 0 for a and b: the same one */
  gemmsmith_type ab_type;                    /* f16 or bf16 */
  gemmsmith_type cd_type;                    /* ab_type or f32 */
  gemmsmith_activation activation;
  int has_bias;     /* one value of cd_type for each element of a line of d: n for row order, m for column order */
  int alpha_is_one; /* 1: every call has alpha 1 */
  int beta_is_zero; /* 1: every call has beta 0, and c is not read */
  int constant_b;   /* 1: the kernel before a call never writes b; consecutive calls then overlap */
  uint32_t pointer_alignment; /* bytes, promised for a, b, c and d: a power of two, at least one element */
  size_t workspace_bytes;     /* that every call brings; more gives cuBLASLt more kernels to choose from */
  int own_only; /* 1: cuBLASLt is left out; calls answer NOT_SUPPORTED unless a kernel of ours is expected to be faster */
} gemmsmith_problem;

typedef struct gemmsmith_operands {
  size_t size;
  const void* a;
  const void* b;
  const void* c;    /* null where beta is 0 */
  const void* bias; /* null without one */
  void* d;
  float alpha, beta;
  void* workspace; /* one for each stream or captured graph; its content does not matter */
} gemmsmith_operands;

typedef struct gemmsmith_context gemmsmith_context; /* kernels and choices; one a process is enough, for all devices */
typedef struct gemmsmith_product gemmsmith_product; /* a problem with its kernel, chosen and loaded; immutable */

GEMMSMITH_API const char* gemmsmith_version(void);
GEMMSMITH_API uint32_t gemmsmith_abi(void);
GEMMSMITH_API const char* gemmsmith_status_text(gemmsmith_status status);
GEMMSMITH_API const char* gemmsmith_last_error(void); /* of this thread's last call that failed; never null */

/* `overlay` is a file of kernels that go before the shipped ones, or null. */
GEMMSMITH_API gemmsmith_status gemmsmith_context_create(gemmsmith_context** context, const char* overlay);
GEMMSMITH_API void gemmsmith_context_destroy(gemmsmith_context* context);

/* Row order, packed, batch 1, f16, alpha 1, beta 0, pointers aligned to 16 bytes, no workspace. */
GEMMSMITH_API void gemmsmith_problem_default(gemmsmith_problem* problem);
GEMMSMITH_API void gemmsmith_operands_default(gemmsmith_operands* operands);

/* Chooses, loads and allocates. `device` is CUDA's number. */
GEMMSMITH_API gemmsmith_status gemmsmith_prepare(gemmsmith_context* context, const gemmsmith_problem* problem,
                                                 int device, gemmsmith_product** product);
/* Puts the call on the stream (a CUstream or cudaStream_t). The device's primary context is current. Allocates nothing,
 * waits for nothing, may be captured. */
GEMMSMITH_API gemmsmith_status gemmsmith_run(const gemmsmith_product* product, const gemmsmith_operands* operands,
                                             void* stream);
GEMMSMITH_API void gemmsmith_release(gemmsmith_product* product);

/* prepare and run at once, on the current device. Products are remembered, so only the first call of a problem
 * prepares; capture a problem that was called before. alpha, beta and the alignment are those of the operands. */
GEMMSMITH_API gemmsmith_status gemmsmith_multiply(gemmsmith_context* context, const gemmsmith_problem* problem,
                                                  const gemmsmith_operands* operands, void* stream);

/* The kernel, why it was chosen, and the time expected. Writes at most `*bytes` with the zero at the end, and sets
 * `*bytes` to what the whole text takes. */
GEMMSMITH_API gemmsmith_status gemmsmith_explain(const gemmsmith_product* product, char* text, size_t* bytes);

#ifdef __cplusplus
}
#endif

#endif
