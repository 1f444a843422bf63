// How searches came to their best kernels: the candidates of a problem in the order in which they were stored.
#pragma once

#include <map>
#include <vector>

#include "report/selection.h"

namespace gemmsmith {

struct SearchHistory {
  // This candidate, counted from 1, was faster than all before it.
  struct Best {
    int candidate = 0;
    double time_ns = 0;  // on the selection's leading clock
  };
  Shape shape;
  Layout layout;
  std::map<OutcomeKind, int> outcomes;
  std::vector<Best> bests;  // empty where no candidate was timed

  int candidates() const;
};

struct SearchHistories {
  Protocol protocol = Protocol::kScreen;  // screenings where there are any, else the commonest; others are left out
  std::vector<SearchHistory> problems;    // sorted by shape and layout
};

// Of plans and sources, for the selection's device, type and shapes. No problems where it holds no candidate.
SearchHistories HistoriesOf(const std::vector<Trial>& trials, const Selection& selection);

}  // namespace gemmsmith
