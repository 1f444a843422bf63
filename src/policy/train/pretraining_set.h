// The pretraining set: documents drawn from trials, each like a state of a search.
#pragma once

#include <map>
#include <span>
#include <vector>

#include "archive/trial.h"
#include "policy/contexts.h"
#include "policy/train/trainer.h"
#include "problem/held_out.h"

namespace gemmsmith {

// The most carefully timed trial of a plan, and its latest trial with counters.
struct PlanTrials {
  const Trial* timed = nullptr;
  const Trial* profiled = nullptr;
};
// The counters of one, all else of the other.
JudgedAs AsJudged(const Gemm& gemm, const Device& device, const PlanTrials& trials);

// By device key and problem; only devices that FindDevice() knows.
using TrialsByProblem = std::map<std::pair<std::string, Gemm>, std::map<Plan, PlanTrials>>;
TrialsByProblem GroupTrials(std::span<const Trial> trials);

// Moves one size in twenty by an octave. So the words of sizes that no training shape has are learned too, from their
// neighbours.
Shape Blurred(Shape shape, Random& random);

// How many plans a search may know when it comes to another: 0 to 32.
size_t DrawKnownCount(Random& random);

class PretrainingSet {
 public:
  // Trials of plans on devices that FindDevice() knows; the others do not count. InvalidArgument where nothing is left
  // to train on. Held-out shapes are what is validated on.
  static Result<PretrainingSet> From(std::span<const Trial> trials, const HeldOut& held_out);

  size_t problems() const { return training_.size(); }
  size_t held_out_problems() const { return held_out_.size(); }
  size_t trials() const { return trials_; }

  // A problem, all alike; of its trials half of the times one of the best goal, else any; before it up to 32 others,
  // of which the context shows two. Now and then a size is told an octave away. Of held-out problems, as they are:
  // CHECKs that there are any.
  Document Draw(const Ablations& ablations, Random& random) const;
  Document DrawHeldOut(const Ablations& ablations, Random& random) const {
    return DrawFrom(held_out_, ablations, random);
  }

 private:
  struct TrainingProblem {
    Gemm gemm;
    Device device;
    std::vector<Exemplar> variants;
    std::vector<size_t> best;  // of the best goal
    double best_score = 0;
  };
  static Document DrawFrom(const std::vector<TrainingProblem>& problems, const Ablations& ablations, Random& random);

  std::vector<TrainingProblem> training_, held_out_;
  size_t trials_ = 0;
};

// The words, with weight 1 where a policy is to say them: the analysis, the plan and its verdict; 0 where it is told.
WeightedTokens WeightedDocument(const Document& document);

}  // namespace gemmsmith
