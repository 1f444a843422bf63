// Kernels that models wrote and the judge's words on them, and how two models compare.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/statistics.h"
#include "base/status.h"
#include "outcome/outcome.h"
#include "problem/gemm.h"

namespace gemmsmith {

// A line of judged.jsonl.
struct JudgedKernel {
  std::string file;
  Gemm gemm;
  std::optional<OutcomeKind> outcome;    // nothing: the kernel has no end
  std::optional<double> reward;          // of those with an outcome
  std::optional<double> speed_up;        // over cuBLASLt AutoTuning, where it was timed
  std::optional<bool> is_novel;          // of right ones: no plan has its kernel; nothing: not looked up
  std::optional<double> final_speed_up;  // of winners, in a race with those of other models
  bool operator==(const JudgedKernel&) const = default;
};

Status WriteJudgedKernels(const std::vector<JudgedKernel>& kernels, const std::filesystem::path& path);
// File, line and reason where something is missing or damaged.
Result<std::vector<JudgedKernel>> ReadJudgedKernels(const std::filesystem::path& path);

// How many of the kernels.
struct KernelShares {
  size_t all = 0, finished = 0, compiled = 0, right = 0, cheats = 0;
  size_t looked_up = 0, novel = 0;  // of the right ones
};
KernelShares SharesOf(std::span<const JudgedKernel> kernels);

// The place of the fastest right kernel of each problem that has one.
std::map<Gemm, size_t> FastestKernels(std::span<const JudgedKernel> kernels);

// The geometric mean of final speed-ups, over problems whose winner was raced; nullopt where there is none.
struct FinalSpeedUp {
  size_t problems = 0;
  double mean = 0;
  Interval interval;  // 95 %, from problems drawn again
};
std::optional<FinalSpeedUp> FinalSpeedUpOf(std::span<const JudgedKernel> kernels);

// The expected speed-up of the best of so many kernels of a problem, in the mean over problems; a kernel that is not
// right counts as 0.
struct BestOf {
  size_t draws = 0;
  double mean = 0;
  Interval interval;  // 95 %, from problems drawn again
};
// For 1, 2, 4, ... kernels, up to those of the problem with the fewest.
std::vector<BestOf> BestOfKernels(std::span<const JudgedKernel> kernels);

// Our mean best of 1 over theirs. InvalidArgument where the problems are not the same, or nothing of theirs is right.
struct KernelRatio {
  double ratio = 0;
  Interval interval;  // 95 %, from problems drawn again, the same ones for both
};
Result<KernelRatio> CompareKernels(std::span<const JudgedKernel> ours, std::span<const JudgedKernel> theirs);

}  // namespace gemmsmith
