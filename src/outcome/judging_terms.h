// The terms of a judgement: its problem, its inputs, and how thoroughly it tests and times.
#pragma once

#include <cstdint>

#include "outcome/baseline_set.h"
#include "outcome/outcome.h"
#include "outcome/test_list.h"
#include "problem/gemm.h"

namespace gemmsmith {

struct JudgingTerms {
  Gemm gemm;
  Protocol protocol = Protocol::kScreen;
  ClockSet clocks = {Clock::kDeviceCold};  // where neither kDeviceCold nor kDevice is among them, on kDeviceCold too
  uint64_t seed = 0;                       // of the inputs
  // False: every wanted test and no timing. A candidate that passes is kVerified. Baselines are made for `certify`
  // only.
  bool time = true;
  TestSet tests = TestSet::All();  // a test outside this set does not run
  // The reference is the CPU's product of every element, and the baselines are held to it too: seconds for a large
  // problem. Without timing, AutoTuning is not raced for.
  bool certify = false;
  BaselineSet baselines;
  bool counters = false;  // a profiler reads its counters of a candidate that has passed everything else
  // Single calls (offline, server, host) are timed for the fastest candidate of each layout only. A call on the
  // server's clock costs a millisecond of waiting.
  bool calls_of_fastest = false;
  // Few rounds in the short protocol and in the choice of AutoTuning, for a first look at many problems. The tests are
  // the same.
  bool brief = false;

  bool WantsBaselines() const { return time || certify; }
  // Every test there is, not those of a search alone.
  bool WantsEverything() const { return !time || IsThorough(protocol); }
  bool operator==(const JudgingTerms&) const = default;
};

}  // namespace gemmsmith
