/* What the examples share: matrices of small numbers in bf16, their product on the CPU, and how an example ends. */
#ifndef EXAMPLE_H
#define EXAMPLE_H

#include <cuda_runtime_api.h>
#include <gemmsmith/gemmsmith.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

enum { EXAMPLE_RIGHT = 0, EXAMPLE_FAILED = 1, EXAMPLE_MISSING = 77 };

static inline int example_end(int code, const char* what, const char* why) {
  printf("%s: %s: %s\n", code == EXAMPLE_MISSING ? "missing here" : "failed", what, why);
  return code;
}

/* Returns from main(), with one line that says why, where a call fails. */
#define CUDA(call)                                                                                          \
  do {                                                                                                      \
    const cudaError_t error = (call);                                                                       \
    if (error != cudaSuccess) return example_end(example_of_cuda(error), #call, cudaGetErrorString(error)); \
  } while (0)
#define GEMMSMITH(call)                                                                                             \
  do {                                                                                                              \
    const gemmsmith_status status = (call);                                                                         \
    if (status != GEMMSMITH_OK) return example_end(example_of_status(status), "gemmsmith", gemmsmith_last_error()); \
  } while (0)

static inline int example_of_cuda(cudaError_t error) {
  return error == cudaErrorInsufficientDriver || error == cudaErrorNoDevice ? EXAMPLE_MISSING : EXAMPLE_FAILED;
}
static inline int example_of_status(gemmsmith_status status) {
  return status == GEMMSMITH_NO_DRIVER || status == GEMMSMITH_NO_DEVICE || status == GEMMSMITH_NO_LIBRARY
             ? EXAMPLE_MISSING
             : EXAMPLE_FAILED;
}

static inline uint16_t bf16_of(float value) { /* of numbers that bf16 holds */
  uint32_t bits;
  memcpy(&bits, &value, sizeof bits);
  return (uint16_t)(bits >> 16);
}
static inline float float_of(uint16_t bf16) {
  const uint32_t bits = (uint32_t)bf16 << 16;
  float value;
  memcpy(&value, &bits, sizeof value);
  return value;
}

/* From -2 to 2, no two rows alike. */
static inline void fill(uint16_t* matrix, int count, uint32_t seed) {
  for (int i = 0; i < count; ++i) {
    seed = seed * 1664525u + 1013904223u;
    matrix[i] = bf16_of((float)(int)(seed >> 16) / 16384 - 2);
  }
}

/* How many elements of d[m,n] are further from x[m,k] weights[n,k]^T than rounding to bf16 takes them. */
static inline int count_wrong(const uint16_t* d, const uint16_t* x, const uint16_t* weights, int m, int n, int k) {
  int wrong = 0;
  for (int i = 0; i < m; ++i)
    for (int j = 0; j < n; ++j) {
      double sum = 0, size = 0;
      for (int step = 0; step < k; ++step) {
        const double term = (double)float_of(x[i * k + step]) * float_of(weights[j * k + step]);
        sum += term;
        size += fabs(term);
      }
      wrong += !(fabs(float_of(d[i * n + j]) - sum) <= fabs(sum) / 256 + size * 1e-6);
    }
  return wrong;
}

static inline int example_result(const char* name, int wrong, int count) {
  if (wrong == 0) return printf("%s: %d results are right\n", name, count), EXAMPLE_RIGHT;
  return printf("%s: %d of %d results are wrong\n", name, wrong, count), EXAMPLE_FAILED;
}

#endif
