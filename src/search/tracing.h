// Contenders on recorded problems, each drawing from the same cells.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "search/recorded_cells.h"
#include "search/traces.h"

namespace gemmsmith {

struct NamedProposer {
  std::string name, origin;  // as in TracedProposer
  // On several threads at once.
  std::function<Result<std::unique_ptr<Proposer>>(const SearchContext&)> make;
};

struct TracingOptions {
  std::string held_out;  // kept with the traces
  uint64_t seed = 1;
  uint32_t repeats = 20;
  uint32_t batch = 16;                                // plans under way at once, at most; a campaign's are as many
  std::function<bool()> stop = [] { return false; };  // asked between repeats
};

// Every proposer on every problem as often as asked for, on all cores. Problem and repeat alone decide over the seed.
// `progress` hears how many of problems x proposers are done, one call at a time. The first proposer that cannot be
// made ends it, and so does `stop`.
Result<Traces> TraceProposers(const std::vector<NamedProposer>& proposers, const std::vector<RecordedCells>& problems,
                              const Device& device, const TracingOptions& options,
                              const std::function<void(size_t done)>& progress);

}  // namespace gemmsmith
