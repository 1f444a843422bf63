// A candidate of an exchange, for the files that implement Exchange.
#pragma once

#include "evaluate/exchange.h"

namespace gemmsmith {

// Graphs go before the kernel that they launch.
struct Exchange::LoadedCandidate {
  int32_t index = 0;  // in the list
  const CandidateMessage* message = nullptr;
  const TestSetup* setup = nullptr;  // of its layout
  std::optional<CandidateCall> code;
  const GuardedWorkspace* workspace = nullptr;
  std::map<const Inputs*, CandidateCall::Bound> calls;
  CandidateCall::Bound other;        // for a plan's other shape
  const LateInputs* late = nullptr;  // null: it cannot be chained
  std::map<Clock, CallGraph> graphs;
  double call_ns = 0;  // roughly
  bool is_hopeless = false;
  TestResult tested;
  Outcome outcome;
};

}  // namespace gemmsmith
