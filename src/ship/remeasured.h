// The entries of a catalogue beside what later races measured of them. A pure function.
#pragma once

#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "archive/trial.h"
#include "catalogue/catalogue.h"

namespace gemmsmith {

struct Remeasured {
  // Ratios of one entry: `then` stands in the catalogue, `now` was measured last.
  struct Ratios {
    Gemm gemm;
    double time = 1;      // now / then
    double speed_up = 1;  // over AutoTuning: now / then
  };
  std::map<std::string, std::vector<Ratios>> by_mode;  // those that both have
  size_t entries = 0;                                  // measured again, whatever came of it
  std::vector<std::pair<Gemm, std::string>> failures;  // that did not pass now, and why
};

// For each entry, the last trial of its problem, plan and device that was judged as carefully as entries are. It
// failed, or was timed on the device against AutoTuning. The trial that the entry came from counts too.
Remeasured Remeasure(const Catalogue& catalogue, std::span<const Trial> trials);

}  // namespace gemmsmith
