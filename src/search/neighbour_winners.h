// What won on a problem's neighbours, to be tried early: kernels that are fastest on one shape are seldom far from the
// fastest on the next.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "search/proposer.h"

namespace gemmsmith {

// How far two problems are apart, in octaves of their extents; half an octave where their layouts differ. Infinite
// where types or accumulation do.
double OctavesBetween(const Gemm& first, const Gemm& second);

class NeighbourWinners {
 public:
  // Of each problem any number, the best first. `elsewhere`: on another device of the same architecture.
  void Add(const Gemm& gemm, const Plan& plan, bool elsewhere = false) { plans_[{gemm, elsewhere}].push_back(plan); }
  bool empty() const { return plans_.empty(); }
  // Distinct plans that are legal there, with the trigger and known dimensions of screened ones (program/space.h):
  // those of the problem itself first, then those of the nearest. A problem of another type, accumulation or device is
  // a neighbour too.
  std::vector<Plan> For(const Gemm& gemm, const Device& device, size_t most) const;
  // The best on the problem itself that is legal, else on its shape otherwise; as it was there.
  std::optional<Plan> OfItself(const Gemm& gemm, const Device& device) const;
  // All of them as text: equal texts, equal answers.
  std::string Print() const;

 private:
  struct WinnersKey {
    Gemm gemm;
    bool elsewhere = false;
    auto operator<=>(const WinnersKey&) const = default;
  };
  static double Octaves(const WinnersKey& problem, const Gemm& gemm);

  std::map<WinnersKey, std::vector<Plan>> plans_;
};

// Alternates between these winners and proposals of `searcher`, which observes both. After the last winner the searcher
// proposes alone.
std::unique_ptr<Proposer> MakeInterleaved(std::vector<Plan> winners, std::unique_ptr<Proposer> searcher);

}  // namespace gemmsmith
