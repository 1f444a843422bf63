// compute-sanitizer's memcheck on one candidate, in a process of its own: accesses outside an allocation or misaligned,
// which guard bands and right numbers may not show.
#pragma once

#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "evaluate/evaluator.h"

namespace gemmsmith {

// The findings of its log.
struct MemcheckLog {
  bool is_complete = false;  // it has a summary: the tool saw the program to its end
  int errors = 0;
  std::string first;  // "Invalid __global__ write of size 4 bytes, at gemmsmith_gemm+0x70, by thread ..., ..."
};
MemcheckLog ParseMemcheckLog(std::string_view log);

// The tool; Unavailable, with what to do, where this machine has none.
Result<std::filesystem::path> FindMemcheck();

// Nothing: it is clean. Else an outcome of stage "memcheck": kWrong with the first error, or kLaunchFailed. A Status
// where there is no such tool or it did not work.
using MemcheckResult = Result<std::optional<Outcome>>;

// Has the tool watch one call of a plan's kernel, on matrices that are allocations of exactly their bytes; its numbers
// are not looked at.
MemcheckResult RunMemcheck(const Candidate& candidate, const Device& device, const IsolationOptions& options);
// The same for several plans, whose kernels have one name, in one process as long as all are clean. Starting the tool
// takes longer than most calls. Otherwise each is watched alone. An error that none of them shows alone is a Status of
// all. A tool that fails twice in a row is a Status of those that are left.
std::vector<MemcheckResult> RunMemcheckTogether(std::span<const Candidate> candidates, const Device& device,
                                                const IsolationOptions& options);

}  // namespace gemmsmith
