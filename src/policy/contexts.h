// Documents made from trials: what a policy is trained on, and what it is shown before it proposes.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "base/random.h"
#include "policy/ablations.h"
#include "policy/tokens.h"

namespace gemmsmith {

// Floor over time, what policies know as the score of a plan.
double ScoreOf(const Gemm& gemm, const Device& device, double time_ns);
// The time that has the score.
double TimeOf(const Gemm& gemm, const Device& device, double score);

// Includes the recorded counters that a context shows.
JudgedAs AsJudged(const Gemm& gemm, const Device& device, const Outcome& outcome);

struct ContextOptions {
  Ablations ablations;
  double temperature = 1;  // of the choice among buckets, in deviations of the bucket's means
};

// ChooseContrasting() two of the variants that have a score.
std::vector<Exemplar> ChooseExemplars(std::span<const Exemplar> variants, double temperature, Random& random);

// Compares the first two exemplars; nullopt if two with scores are missing. Reasons are counters of both that differ
// most: at most three, each by at least a tenth.
std::optional<Analysis> Analyse(std::span<const Exemplar> exemplars);

// The class of a candidate beside the best that is known, as an index of kGoalPercents.
int GoalOf(const JudgedAs& judged, double best_score);
inline constexpr int kBestGoal = int(kGoalPercents.size()) - 1;

// Up to the place where a policy is to write a plan, with the best goal. Draws the same random numbers whatever is left
// out, so that runs with one seed meet the same problems and plans.
Document ContextFor(const Gemm& gemm, const Device& device, std::span<const Exemplar> variants,
                    const ContextOptions& options, Random& random);

// Words of the longest context that ContextFor() makes.
int LongestContext();

}  // namespace gemmsmith
