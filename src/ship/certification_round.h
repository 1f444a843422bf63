// Many certificates, side by side on all GPUs that are given. docs/certification.md
#pragma once

#include <functional>
#include <span>
#include <utility>
#include <vector>

#include "archive/standings.h"
#include "compile/compiler.h"
#include "evaluate/evaluator.h"
#include "evaluate/verify/certificate_journal.h"
#include "evaluate/verify/memcheck.h"
#include "ship/shape_lanes.h"

namespace gemmsmith {

// One more call of each of these candidates, which passed, under memcheck, on the GPU of the lane; asked for by several
// threads at once.
using WatchCalls = std::function<std::vector<MemcheckResult>(size_t lane, std::span<const Contender> contenders)>;

struct CertificationRound {
  std::vector<Certificate> certificates;  // made in this round, in the order of the pairs
  std::vector<std::pair<Gemm, Status>> failures;
  size_t found = 0;  // in the journal before, or earlier in the list
  size_t left = 0;
  Status world;  // why an evaluator did not go on
};

// Puts each pair that the journal does not have to all tests, certified by the CPU; where `watch` is not null, who
// passes is watched once more, with some others, while the evaluator goes on. Every certificate is on the disk as soon
// as it is made. All evaluators are of one model; as DealOut(), and `begun` counts those that were found too.
CertificationRound CertifyAll(const std::vector<PlannedGemm>& pairs, CertificateJournal& journal,
                              std::span<Evaluator* const> evaluators, Compiler& compiler, const WatchCalls& watch,
                              uint64_t seed, const LaneHooks& hooks);

}  // namespace gemmsmith
