// Recorded measurements of a real GPU answer in place of a device, with the recorded spread as noise. It never invents
// a number: what was not recorded is not answered.
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

// The trials of one device.
class Recording {
 public:
  // Refuses records without trials, of several devices, or of a device that FindDevice() does not know.
  static Result<std::shared_ptr<const Recording>> Load(const std::filesystem::path& folder_or_file);
  static Result<std::shared_ptr<const Recording>> Load(std::span<const std::filesystem::path> folders_or_files);
  // For trials of which the same is known.
  static std::shared_ptr<const Recording> FromTrials(std::vector<Trial> trials);

  const Setting& setting() const;      // of the newest trial
  std::string Date() const;            // "2026-11-21", of the newest trial
  std::string Fingerprint() const;     // of what was recorded: other trials, another text
  std::vector<Gemm> Problems() const;  // recorded ones, sorted
  const std::vector<Trial>& trials() const;
  bool Has(const Gemm& gemm) const;
  // Recorded problems nearest in log2 of m, n and k, same kind first.
  std::vector<Gemm> Nearest(const Gemm& gemm, int count) const;
  // The plans recorded for a problem: the mask that proposers draw from.
  Space SpaceFor(const Gemm& gemm) const;
  const Trial* Find(const Gemm& gemm, const Plan& plan) const;  // the one with the most careful protocol
  // The one of this protocol, else of the next more careful one: never of a less careful one.
  const Trial* Find(const Gemm& gemm, const Plan& plan, Protocol protocol) const;
  // The fastest measured plan on the device clock.
  const Trial* Best(const Gemm& gemm) const;

 private:
  struct State;
  explicit Recording(std::shared_ptr<const State> state);
  std::shared_ptr<const State> state_;
};

// Answers with the recorded outcome, its times of ours drawn anew within the recorded spread and the ratios to the
// recorded baselines changed with them; the same draw for the same seed, problem, plan and protocol. The outcome
// carries the protocol that was recorded: the one asked for or, where that is lacking, a more careful one. NotFound for
// a cell without such a record.
std::unique_ptr<Evaluator> MakeReplayEvaluator(std::shared_ptr<const Recording> recording);

// Trials that a recording answered are kept under campaigns with this prefix: no measurement of their own, so they are
// never exported and never counted as recorded.
inline constexpr std::string_view kReplayPrefix = "replay ";
inline bool IsReplayed(const Trial& trial) { return trial.campaign.starts_with(kReplayPrefix); }

}  // namespace gemmsmith
