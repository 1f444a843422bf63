// The few plans without dimensions of their own that ship beside a catalogue's entries and serve every other shape.
#pragma once

#include <cstddef>
#include <vector>

#include "catalogue/catalogue.h"

namespace gemmsmith {

struct GeneralPlan {
  Plan plan;
  int entries = 0;  // of its class, whose plan it is but for dimensions and trigger
  // With those chosen before it: the predicted times of the entries' own plans over theirs, geometric mean.
  double covered = 0;
};

// Entries by their number of rows: above the class before, up to this.
struct RowClass {
  int most_rows = 0;
  size_t entries = 0;
  std::vector<GeneralPlan> plans;  // in the order of their choice: the first alone covers most
};

// Greedily from the plans of each class's entries with f32 sums and no promise, at most `count` a class. Plans that
// serve any K, give equal bits call after call, and need no workspace. The entry's own plan is the best for its
// problem, since searches tried others. Other plans cost what the cost model says, and a prediction's error.
std::vector<RowClass> ChooseGeneralPlans(const Catalogue& catalogue, const Device& device, size_t count);

// A problem for each text that a plan without dimensions can be emitted as: every layout and type, with and without
// whole panels along m, n and k.
std::vector<Gemm> ProblemsOfAllTexts();

}  // namespace gemmsmith
