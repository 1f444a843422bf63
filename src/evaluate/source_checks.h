// The tests that sources get beyond those of plans.
#pragma once

#include "evaluate/candidate_call.h"
#include "evaluate/source_operands.h"
#include "evaluate/verify/correctness.h"

namespace gemmsmith {

struct SourceCheckSetup {
  HarnessKernels& harness;
  Verifier& verifier;
  const CandidateMessage& message;
  CandidateCall& code;
  SourceOperands& operands;
};

// A and B of the whole problem are read-only, but not in "late_inputs": a write faults.
// "unaligned": every matrix begins at an odd multiple of 16 bytes of its own, and faults follow it.
// "prior_output": C holds numbers, then the product itself, before the call.
// "late_inputs": the kernel ahead writes A and B, and lets the call begin before that.
// "half_shape": half of each dimension, and after it the whole again.
// "fenced": faults follow each matrix at once, or within 16 bytes if its size is no multiple of 16.
// Enters a failure into `tested`. A Status only where the harness failed.
Status CheckSource(const SourceCheckSetup& setup, Random& random, TestResult& tested,
                   const std::function<void(std::string_view test)>& on_test);

}  // namespace gemmsmith
