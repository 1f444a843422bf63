// Who challenges the entries of a catalogue: the winners of the archive's campaigns.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "archive/standings.h"

namespace gemmsmith {

// A problem, and plans to race for it. The first matter most.
struct Challenge {
  Gemm gemm;
  std::vector<Plan> plans;  // distinct, at least one
};

// Times of different runs are of different states of the GPU (at its power cap a kernel takes up to 12 % longer than on
// a cool one), so they tell the plans of one campaign apart, whose finals are one race, and not those of two.
class Challengers {
 public:
  void Take(const Trial& trial);
  // Of every problem the best plan of each campaign that timed one, those of the latest campaign first. A plan that
  // raced in a later campaign's finals is what these made of it: the winner there, beaten, or refused.
  std::vector<Challenge> All() const;
  // The same, and behind those of each problem whoever would challenge for it in the other of nn and tn and has not
  // raced for it yet; also where it was searched in one of them only.
  std::vector<Challenge> InBothLayouts() const;

 private:
  struct Findings {
    std::optional<BestPlan> best;  // nothing: none was timed
    std::set<Plan> raced;          // in thorough protocols, or refused there
    int64_t latest_unix_ms = 0;
  };
  using FindingsOfCampaigns = std::map<std::string, Findings>;
  static std::vector<Plan> PlansOf(const FindingsOfCampaigns& campaigns);
  bool HasRaced(const Plan& plan, const Gemm& gemm) const;

  std::map<Gemm, FindingsOfCampaigns> problems_;
};

}  // namespace gemmsmith
