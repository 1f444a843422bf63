// What bench and grid report of the trials that they measure.
#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "archive/trial.h"
#include "base/work_queue.h"

namespace gemmsmith {

struct MeasuredEvent {
  const Trial* trial = nullptr;  // just stored
  size_t done = 0;               // trials, those found included
  size_t total = 0;
};
using OnMeasured = std::function<void(const MeasuredEvent&)>;

struct MeasuredList {
  size_t total = 0;                                     // trials
  size_t judged = 0;                                    // in this call
  size_t found = 0;                                     // in the archive
  std::vector<std::pair<OutcomeKind, int>> by_outcome;  // of this call, in the order of the kinds
  std::vector<std::pair<Gemm, Status>> failures;        // problems that could not be judged
  std::string stop_reason;                              // empty: nothing is left but the failures
  double seconds = 0;

  // Counts trials that were just stored, for the queue's rule too, and tells the listener where there is one.
  void Add(const std::vector<Trial>& trials, WorkQueue& queue, const OnMeasured& on_event);
};

}  // namespace gemmsmith
