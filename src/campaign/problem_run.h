// One problem on its way through the stages of a campaign: what was learned of it, and what is to be judged next.
// Judges nothing itself.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "campaign/campaign.h"
#include "search/pace.h"

namespace gemmsmith {

class ProblemRun {
 public:
  ProblemRun(size_t index, const CampaignOptions& options, ProblemSearch search);  // the options outlive it

  size_t index() const { return index_; }
  const Gemm& gemm() const { return options_.problems[index_]; }
  int evaluations() const { return evaluations_; }
  int outstanding() const { return outstanding_; }  // proposed, neither taken nor missed
  // How many its budget still lets be screened, those outstanding included.
  int LeftToScreen() const { return search_.stop->EvaluationsLeft(ProgressAfter(0)); }
  // The fastest so far, by the most careful protocol that has one.
  const Trial* Best() const;

  // Up to `most` new plans, as many as the budget leaves; they are outstanding from now on.
  std::vector<Plan> Propose(int most);
  // A trial counts for the stage that its protocol says; the first of a plan counts as its screening, but that of a
  // twin, which has none.
  void Take(const Trial& trial, bool resumed);
  void MissScreen();  // a proposal that a record lacks
  // `seconds` of the problem's exchanges. Once it is over it stays so, and nothing is outstanding any more.
  bool ScreenIsOver(double seconds);

  // By the fastest that was screened.
  bool HasLongCalls() const;
  // What the heat still lacks, once: empty from the second call on.
  std::vector<Plan> TakeHeat();
  // Who is to be judged in the short protocol: from the fastest on, until enough have passed; one that is refused, or
  // that a record lacks, makes room for the next. Beside the first of them the standing one. Empty: the finals are
  // over.
  std::vector<Plan> NextFinalists() const;
  std::vector<Trial> Finals() const;
  void MissFinal(const Plan& plan) { without_final_.insert(plan); }

  ProblemResult Finish(bool complete) const;

 private:
  struct Screening {
    Trial trial;
    double time_ns = 0;  // at one pace: the others were judged at other times
    bool operator<(const Screening& other) const {
      return std::pair(time_ns, trial.plan()) < std::pair(other.time_ns, other.trial.plan());
    }
  };
  StopRule::Progress ProgressAfter(double seconds) const { return {evaluations_, seconds}; }
  bool HasFinals() const { return options_.finalists > 0; }
  bool HasTwins() const { return options_.chained_twins > 0 || options_.fixed_twins > 0 || options_.raced_on; }
  void Account(const Trial& trial, bool resumed);
  std::vector<Plan> RoomForNext(const Plan& plan) const;
  std::vector<Plan> HeatOfShortCalls(std::vector<const Trial*> screened) const;
  std::vector<Plan> HeatOfLongCalls(const std::vector<const Trial*>& screened) const;
  std::vector<Plan> NotRacedYet(const std::vector<Plan>& plans) const;
  // Of a plan that joined at the heat or the finals: the twin of a screened one, or one that stands or stood.
  bool IsUnscreened(const Trial& trial) const;
  std::vector<const Trial*> Screened() const;  // measured, fastest first
  void SortByHeat(std::vector<const Trial*>& raced) const;
  std::vector<const Trial*> RankedForFinals() const;  // those that the heat confirmed come first

  const size_t index_;
  const CampaignOptions& options_;
  const std::optional<Plan> standing_;
  ProblemSearch search_;
  std::string stop_reason_;  // not empty: the screening is over
  bool space_is_exhausted_ = false;
  int outstanding_ = 0;
  bool heat_taken_ = false;
  std::vector<Plan> without_heat_;  // so few that all of them go straight to the finals

  std::set<Plan> searched_;
  std::map<OutcomeKind, int> by_outcome_;
  Pace pace_;
  std::map<Plan, Screening> measured_;
  std::map<Plan, Trial> heats_, finals_;
  std::set<Plan> without_final_;
  const Screening* best_screened_ = nullptr;
  const Trial* best_final_ = nullptr;
  int evaluations_ = 0, resumed_ = 0, misses_ = 0;
};

}  // namespace gemmsmith
