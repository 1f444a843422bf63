// Files with a plan a line, each for every problem or for the one that stands before it: "PROBLEM | PLAN", as in
// "gemm 256x512x4096 tn f16 f32 | direct tile_m=32". '#' begins a comment.
#pragma once

#include <filesystem>
#include <optional>
#include <vector>

#include "problem/gemm.h"
#include "program/plan.h"

namespace gemmsmith {

struct PlanLine {
  int number = 0;  // in the file, from 1
  std::optional<Gemm> gemm;
  Plan plan;
};

// At least one; whatever is wrong comes with file and line.
Result<std::vector<PlanLine>> ReadPlanLines(const std::filesystem::path& path);
// The same where every line has a problem, or none has.
Result<std::vector<PlanLine>> ReadPlansOfProblems(const std::filesystem::path& path);
Result<std::vector<Plan>> ReadPlansOfAll(const std::filesystem::path& path);

}  // namespace gemmsmith
