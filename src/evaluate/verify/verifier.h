// One call of a kernel, watched: is every element right, and was nothing else touched?
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <utility>

#include "evaluate/verify/reference.h"

namespace gemmsmith {

// Where a call reads and writes. `workspace` is null where its content is not checked (baselines).
struct CallBuffers {
  const Inputs* inputs = nullptr;
  const GuardedMatrix* output = nullptr;
  const GuardedWorkspace* workspace = nullptr;
  Maker maker = Maker::kCandidate;
};

struct Watched {
  std::string crash;   // the launch was refused or the kernel crashed: nothing below is known
  std::string wrong;   // where, got, expected, how many; empty where every element is right
  std::string damage;  // what else was touched; empty where nothing was
  double max_abs_error = 0;
  double relative_error = 0;
  double element_bound = 0;  // what the largest element's error might have been
  double call_ns = 0;        // on the device, roughly: operands may be cold, and the host may have been slow
};

class Verifier {
 public:
  Verifier(Gpu& gpu, HarnessKernels& harness) : gpu_(gpu), harness_(harness) {}

  // Poisons the output, lets `call` put its work on the stream, and looks at every element, canary and input; waits
  // once, at the end. `max_abs_error`, if positive, is a bound beside those of BoundsFor(). A Status only where the
  // harness itself failed.
  Result<Watched> Watch(const Gemm& gemm, const CallBuffers& buffers, double max_abs_error,
                        const std::function<Status()>& call);
  // Puts this work on a stream of its own; waits before and after.
  Status OnAnotherStream(const std::function<Status()>& work) { return gpu_.OnAnotherStream(work); }
  // A hash of the matrix's bits.
  Result<uint64_t> Fingerprint(const GuardedMatrix& matrix);
  // Describes writes outside the output's elements; empty if there are none.
  Result<std::string> LookForDamage(const CallBuffers& buffers);
  // Describes damage to any of these workspaces between two calls; empty if there is none.
  Result<std::string> LookAtWorkspaces(std::span<const GuardedWorkspace* const> workspaces);

 private:
  Status MakeEvents();
  Result<Watched> Conclude(const Gemm& gemm, const CallBuffers& buffers, double max_abs_error,
                           const HarnessReport& report);
  Result<std::string> Describe(const Gemm& gemm, const CallBuffers& buffers, const Differences& differences);

  Gpu& gpu_;
  HarnessKernels& harness_;
  std::optional<std::pair<Event, Event>> events_;  // around a call
};

}  // namespace gemmsmith
