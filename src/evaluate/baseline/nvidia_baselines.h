// NVIDIA's own kernels as contenders: cublasGemmEx, the cuBLASLt heuristic's first choice and cuBLASLt AutoTuning, each
// with B stored as it lies in nn and in tn.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/random.h"
#include "evaluate/baseline/baseline_set.h"
#include "evaluate/time/device_clock.h"
#include "evaluate/verify/verifier.h"
#include "gpu/cublas.h"

namespace gemmsmith {

inline constexpr uint64_t kBaselineWorkspaceBytes = uint64_t{64} << 20;

struct Baseline {
  std::string name;  // "lt_auto_tn"
  BaselineKind kind = BaselineKind::kCublas;
  std::string description;  // the algorithm and how many it was chosen from, or why the baseline is missing
  bool usable = false;      // it ran and its output was right
  double max_abs_error = 0;
  PutCall call;
  double call_ns = 0;                 // roughly
  std::map<Batch, CallGraph> graphs;  // for the device clock, as far as they were needed
};

// The problem that a layout's baselines solve: the same shape, types and C; A and B as given where the problem itself
// stores them so, else packed.
Gemm BaselineGemm(const Gemm& gemm, const Layout& layout);

class NvidiaBaselines {
 public:
  NvidiaBaselines(Gpu& gpu, HarnessKernels& harness, Cublas& cublas, Verifier& verifier, const DeviceMemory& workspace)
      : gpu_(gpu), harness_(harness), cublas_(cublas), verifier_(verifier), workspace_(workspace) {}

  // Chooses the algorithm and checks the output like a candidate's. What the library does not serve or gets wrong is a
  // baseline that is not usable; a Status only where the GPU or the harness failed. `inputs` and `output` outlive the
  // baseline.
  Result<Baseline> Make(BaselineKind kind, const Gemm& gemm, const Inputs& inputs, const GuardedMatrix& output,
                        Random& random);
  // Adds the graph for such batches, if it is not there.
  Status AddGraph(Baseline& baseline, Batch batch);

 private:
  struct Choice {
    int candidate = 0;
    std::string description;
  };
  Result<std::optional<Choice>> Tune(LtGemm& lt, const GemmBuffers& buffers, Random& random);
  Result<std::optional<PutCall>> Choose(BaselineKind kind, const Gemm& gemm, const GemmBuffers& buffers, Random& random,
                                        std::string& description);

  Result<double> Estimate(const PutCall& call);

  Gpu& gpu_;
  HarnessKernels& harness_;
  Cublas& cublas_;
  Verifier& verifier_;
  const DeviceMemory& workspace_;
};

}  // namespace gemmsmith
