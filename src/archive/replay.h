// Recorded measurements of a GPU answer in place of a device, with the recorded spread as noise. A cell without a
// record has no answer.
#pragma once

#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "archive/trial.h"
#include "evaluate/evaluator.h"
#include "program/space.h"

namespace gemmsmith {

// The trials of one device. Times of different clocks are never compared: plans of a problem that were timed on another
// leading clock than most have no cell.
class Recording {
 public:
  // Refuses records without trials, of several devices, or of a device that FindDevice() does not know.
  static Result<std::shared_ptr<const Recording>> Load(const std::filesystem::path& folder_or_file);
  static Result<std::shared_ptr<const Recording>> Load(std::span<const std::filesystem::path> folders_or_files);
  // The caller has checked the same.
  static std::shared_ptr<const Recording> FromTrials(std::vector<Trial> trials);

  const Setting& setting() const;      // of the newest trial
  std::string Date() const;            // "2026-11-21", of the newest trial
  std::string Fingerprint() const;     // other trials have another one
  std::vector<Gemm> Problems() const;  // recorded ones, sorted
  const std::vector<Trial>& trials() const;
  bool Has(const Gemm& gemm) const;
  // The recorded problems nearest in log2 of m, n and k, same kind first.
  std::vector<Gemm> Nearest(const Gemm& gemm, int count) const;
  // The plans recorded for a problem: the mask that proposers draw from.
  Space SpaceFor(const Gemm& gemm) const;
  // The trial of a cell in the most careful protocol, or null.
  const Trial* Find(const Gemm& gemm, const Plan& plan) const;
  // The trial in this protocol, else in the next more careful one, or null; never in a less careful one.
  const Trial* Find(const Gemm& gemm, const Plan& plan, Protocol protocol) const;
  // The trial of the plan that was measured fastest, or null.
  const Trial* Best(const Gemm& gemm) const;

 private:
  struct State;
  explicit Recording(std::shared_ptr<const State> state);
  std::shared_ptr<const State> state_;
};

// Answers with the recorded outcome. Our times are drawn anew within the recorded spread, and the ratios to the
// recorded baselines change with them. Seed, problem, plan and protocol fix the draw. The outcome's protocol is the
// recorded one: the one asked for or else a more careful one. NotFound for a cell without such a record.
std::unique_ptr<Evaluator> MakeReplayEvaluator(std::shared_ptr<const Recording> recording);

// The prefix of campaigns that a recording answered. Their trials are no measurements: they are never exported and
// never count as recorded.
inline constexpr std::string_view kReplayPrefix = "replay ";
inline bool IsReplayed(const Trial& trial) { return trial.campaign.starts_with(kReplayPrefix); }

}  // namespace gemmsmith
