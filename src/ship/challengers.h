// Challengers of a catalogue's entries: the winners of the archive's campaigns.
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

// Times of different runs come from different states of the GPU: at the power cap a kernel takes up to 12 % longer than
// on a cool one. So times compare plans of one campaign, whose finals are one race, but not of two.
class Challengers {
 public:
  void Add(const Trial& trial);
  // For every problem, the best plan of each campaign that timed one, the latest campaign first. Finals of a later
  // campaign override earlier results of a plan: it won there, lost, or was refused.
  std::vector<Challenge> All() const;
  // The same. Behind each problem's challengers follow the other layout's, nn or tn, that have not raced for it yet. A
  // problem that was searched in one layout gets them in both.
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
