// A folder of kernels with verdicts, and the race of the winners of several.
#pragma once

#include <filesystem>
#include <span>
#include <vector>

#include "base/status.h"
#include "corpus/text_judge.h"
#include "corpus/text_samples.h"
#include "report/judged_kernels.h"

namespace gemmsmith {

struct JudgedFolder {
  std::filesystem::path judged;  // judged.jsonl
  std::vector<TextSample> samples;
  std::vector<JudgedKernel> kernels;  // of the samples, in their order
};

// InvalidArgument where the verdicts are not on the folder's kernels.
Result<JudgedFolder> ReadJudgedFolder(const std::filesystem::path& folder);

// The fastest right kernel of each problem of each folder gets its final speed-up: all of a problem are one
// WrittenTexts, equal sources once. One that is no longer right, or that was not raced, has none.
Status RaceWinners(std::span<JudgedFolder> folders, TextJudge& judge);

}  // namespace gemmsmith
