#include "search/tracing.h"

#include <fmt/format.h>

#include <mutex>

#include "base/all_cores.h"

namespace gemmsmith {

namespace {

uint64_t SeedOf(const Gemm& gemm, size_t repeat, uint64_t seed) {
  return Random(seed).Fork(fmt::format("compare {} {}", Print(gemm), repeat)).Next();
}

// What several threads come to.
class Finished {
 public:
  explicit Finished(const std::function<void(size_t done)>& progress) : progress_(progress) {}

  void Count() {
    const std::scoped_lock lock(mutex_);
    progress_(++done_);
  }
  void Fail(const Status& status) {
    const std::scoped_lock lock(mutex_);
    if (failure_.ok()) failure_ = status;
  }
  Status failure() const {
    const std::scoped_lock lock(mutex_);
    return failure_;
  }

 private:
  const std::function<void(size_t done)>& progress_;
  mutable std::mutex mutex_;
  size_t done_ = 0;
  Status failure_;
};

}  // namespace

Result<Traces> TraceProposers(const std::vector<NamedProposer>& proposers, const std::vector<RecordedCells>& problems,
                              const Device& device, const TracingOptions& options,
                              const std::function<void(size_t done)>& progress) {
  Traces traces{.held_out = options.held_out, .seed = options.seed, .repeats = options.repeats, .batch = options.batch};
  for (const RecordedCells& cells : problems)
    traces.problems.push_back({cells.gemm(), uint16_t(cells.space().size()), cells.Fingerprint()});
  for (const NamedProposer& proposer : proposers)
    traces.proposers.push_back({proposer.name, proposer.origin, std::vector<Trace>(problems.size() * options.repeats)});

  Finished finished(progress);
  ForEachOnAllCores(proposers.size() * problems.size(), [&](size_t at) {
    const size_t proposer = at / problems.size(), problem = at % problems.size();
    const RecordedCells& cells = problems[problem];
    for (size_t repeat = 0; repeat < options.repeats && finished.failure().ok(); ++repeat) {
      if (options.stop()) return finished.Fail(Interrupted("interrupted; nothing of this run is kept"));
      const Result<std::unique_ptr<Proposer>> made =
          proposers[proposer].make({.gemm = cells.gemm(),
                                    .device = device,
                                    .space = &cells.space(),
                                    .seed = SeedOf(cells.gemm(), repeat, options.seed)});
      if (!made.ok()) return finished.Fail(made.status());
      traces.proposers[proposer].traces[problem * options.repeats + repeat] =
          Follow(**made, cells, kMaxEvaluations, options.batch);
    }
    finished.Count();
  });
  RETURN_IF_ERROR(finished.failure());
  return traces;
}

}  // namespace gemmsmith
