// Makes baselines: NVIDIA's libraries, torch, shared objects that the user names.
#pragma once

#include <memory>
#include <optional>
#include <span>

#include "base/random.h"
#include "evaluate/baseline/baseline.h"
#include "evaluate/baseline/shared_gemm.h"
#include "evaluate/baseline/torch_library.h"
#include "evaluate/verify/verifier.h"
#include "gpu/cublas.h"

namespace gemmsmith {

// The tools that make baselines and that baselines call. They outlive the baselines.
struct BaselineTools {
  Gpu& gpu;
  HarnessKernels& harness;
  Cublas& cublas;
  TorchLibrary& torch;
  const DeviceMemory& workspace;
};

// How AutoTuning chooses among the fastest of the first rounds: by a race, or by one of half as many rounds. Where
// nothing is timed afterwards, the first rounds decide.
enum class TuningRace { kFull, kBrief, kNone };

// Outlives the baselines that it made.
class BaselineMaker {
 public:
  BaselineMaker(const BaselineTools& tools, Verifier& verifier, TuningRace race)
      : tools_(tools), verifier_(verifier), race_(race) {}

  // How this baseline wants A and B stored.
  Layout LayoutOf(const BaselineId& id) const;
  // Chooses the algorithm and checks the output like a candidate's. A baseline is not usable if the library does not
  // serve the problem or gets it wrong. Returns a Status only if the GPU or the harness failed. `gemm` is in its
  // layout; `inputs` and `output` outlive the baseline. `on_step` is told from time to time while the choice takes
  // long.
  Result<Baseline> Make(const BaselineId& id, const Gemm& gemm, const Inputs& inputs, const GuardedMatrix& output,
                        Ring* ring, Random& random, const std::function<void()>& on_step);
  // Adds the graph for such batches on kDevice, if it is not there.
  Status AddGraph(Baseline& baseline, Batch batch);
  // The same on kDeviceCold, of one call on each of these operands.
  Status AddColdGraph(Baseline& baseline, Batch batch, std::span<const CallAddresses> sets);

 private:
  // The problem and the operands of a choice.
  struct Wish {
    const Gemm& gemm;
    const Inputs& inputs;
    const GuardedMatrix& output;
    CallAddresses addresses;
    Ring* ring;  // null: AutoTuning is chosen on repeated calls
    Random& random;
    const std::function<void()>& on_step;
  };
  // A way to call and what it is; where there is none, the reason.
  struct Choice {
    BindCall bind;
    std::string description;
    std::shared_ptr<const GuardedWorkspace> workspace;  // as Baseline has it
  };
  struct Chosen {
    int algorithm = 0;
    std::string description;
  };
  class GpuTrials;

  Result<Choice> Choose(const BaselineId& id, const Wish& wish);
  Choice ChooseCublas(const Wish& wish) const;
  Result<Choice> ChooseLt(BaselineKind kind, const Wish& wish);
  Result<Choice> ChooseTorch(const Wish& wish);
  Result<Choice> ChooseSharedObject(const std::string& path, const Wish& wish);
  Result<std::optional<Chosen>> Tune(const std::shared_ptr<LtGemm>& lt, const Wish& wish);
  Result<std::optional<Chosen>> TuneExhaustively(const std::shared_ptr<LtGemm>& lt, const Wish& wish);
  enum class Care { kFirstLook, kRace };
  struct Choosing;
  Result<Choosing> OnRepeatedCalls(std::span<const int> algorithms, const std::shared_ptr<LtGemm>& lt, const Wish& wish,
                                   Care care);
  Result<Choosing> OnRing(std::span<const int> algorithms, const std::shared_ptr<LtGemm>& lt, const Wish& wish);
  // All of them; at least one is given.
  Result<std::vector<int>> FastestFirst(std::span<const int> algorithms, const std::shared_ptr<LtGemm>& lt,
                                        const Wish& wish, Care care);
  BindCall LtBinding(std::shared_ptr<LtGemm> lt, int algorithm) const;
  GemmBuffers BuffersFor(const CallAddresses& addresses) const;
  Result<Watched> Watch(const Wish& wish, const PutCall& call, const GuardedWorkspace* workspace = nullptr);
  Result<double> Estimate(const PutCall& call);

  const BaselineTools tools_;
  Verifier& verifier_;
  const TuningRace race_;
};

}  // namespace gemmsmith
