// cuBLAS and cuBLASLt, opened at run time, for row-major C = A * B in half precision. Compute and scale types are f32,
// or f16 for an f16 problem; alpha is 1, beta 0. Row-major C is asked for as column-major C^T = B^T A^T.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "gpu/gpu.h"
#include "gpu/lt_configs.h"
#include "problem/gemm.h"

namespace gemmsmith {

// Matrices aligned to 256 bytes, as Gpu::Allocate() gives them: what cuBLASLt's heuristic assumes when it chooses.
struct GemmBuffers {
  const void* a = nullptr;
  const void* b = nullptr;
  void* c = nullptr;
  void* workspace = nullptr;
  uint64_t workspace_bytes = 0;
};

class Cublas {
 public:
  static Result<std::unique_ptr<Cublas>> Open();  // the GPU's context must be current
  ~Cublas();

  std::string Version() const;  // "cublas 13.1.0, cublaslt 13.1.0"

  // cublasGemmEx, default tensor-op algorithm. The workspace of the buffers is set on the handle (only where it or the
  // stream changed, so that a measured call is the call alone). Unavailable where cuBLAS does not support the problem.
  Status GemmEx(const Gemm& gemm, const GemmBuffers& buffers, CUstream stream);

 private:
  struct State;
  explicit Cublas(std::unique_ptr<State> state);
  friend class LtGemm;
  std::unique_ptr<State> state_;
};

// One problem for cublasLtMatmul with its candidate algorithms, in the heuristic's order. The Cublas must outlive it.
class LtGemm {
 public:
  // Asks the heuristic for up to `max_candidates`; an empty list is a valid answer (unsupported leading dimension,
  // ...).
  static Result<std::unique_ptr<LtGemm>> Create(Cublas& cublas, const Gemm& gemm, uint64_t workspace_bytes,
                                                int max_candidates);
  ~LtGemm();

  // Every algorithm for these types, with what it can.
  Result<std::vector<LtCapabilities>> Algorithms() const;
  // The number of a new candidate, if the library says that this configuration works for the problem and workspace.
  std::optional<int> Add(const LtConfig& config);

  int candidate_count() const;
  // Algorithm id, tile, stages, split of k, reduction scheme, swizzling, custom option and cluster of one candidate, in
  // one word: "id66/t20/s35/k1/r0/w0/c0/cl2".
  std::string Describe(int candidate) const;
  Status Run(int candidate, const GemmBuffers& buffers, CUstream stream);

 private:
  struct State;
  explicit LtGemm(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace gemmsmith
