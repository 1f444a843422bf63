// One recorded problem as a game: the plans to choose from, and what each of them turned out to be worth.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "archive/replay.h"
#include "search/proposer.h"

namespace gemmsmith {

// Every recorded plan that is legal for the problem (what is illegal is known for nothing) with its record in the
// screening's protocol, which most have, or the next more careful one.
class RecordedCells {
 public:
  // The recording outlives this.
  RecordedCells(const Recording& recording, const Gemm& gemm);

  const Gemm& gemm() const { return gemm_; }
  const Space& space() const { return space_; }
  const Outcome& OutcomeOf(size_t cell) const { return *outcomes_[cell]; }
  // By cell: the fastest recorded time over its own, 0 where it was not measured.
  std::span<const double> worths() const { return worths_; }
  bool HasMeasured() const;
  // Other outcomes, another number.
  uint64_t Fingerprint() const;

 private:
  Gemm gemm_;
  Space space_;
  std::vector<const Outcome*> outcomes_;
  std::vector<double> worths_;
};

// The cells that a proposer of their space comes to, in order, at most so many. It is asked for one plan, then for as
// many as were judged so far but no more than `batch`, and is told of all of them before it is asked again.
std::vector<uint16_t> Follow(Proposer& proposer, const RecordedCells& cells, size_t most, size_t batch);

}  // namespace gemmsmith
