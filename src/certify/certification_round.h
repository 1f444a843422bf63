// Many certificates, side by side on the GPUs that are given. docs/certification.md
#pragma once

#include <functional>
#include <span>
#include <utility>
#include <vector>

#include "archive/standings.h"
#include "campaign/round.h"
#include "certify/certificate_journal.h"
#include "certify/memcheck.h"
#include "compile/compiler.h"
#include "evaluate/evaluator.h"

namespace gemmsmith {

// Runs one more call of each of these candidates, which passed, under memcheck on the GPU of the worker. Several
// threads call it at once.
using WatchCalls = std::function<std::vector<MemcheckResult>(size_t worker, std::span<const Candidate> candidates)>;

struct CertificationRound {
  std::vector<Certificate> certificates;  // made in this round, in the order of the pairs
  std::vector<std::pair<Gemm, Status>> failures;
  size_t found = 0;  // in the journal before, or earlier in the list
  size_t left = 0;
  Status failure;  // of the first evaluator that did not go on
};

// Puts each pair that the journal lacks to all tests, certified by the CPU. Where `watch` is not null, pairs that pass
// are watched, some at a time, while the evaluator goes on. Every certificate is on the disk as soon as it is made. The
// evaluators are of one model. `begun` counts found pairs too.
CertificationRound CertifyAll(const std::vector<PlannedGemm>& pairs, CertificateJournal& journal,
                              std::span<Evaluator* const> evaluators, Compiler& compiler, const WatchCalls& watch,
                              uint64_t seed, StopRule& stop, const OnBegin& on_begin);

}  // namespace gemmsmith
