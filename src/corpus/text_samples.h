// A folder of kernels that a text model wrote: kernel_00000.cu and so on, and samples.jsonl with a line for each.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "base/status.h"
#include "problem/gemm.h"

namespace gemmsmith {

struct TextSample {
  std::string source;
  Gemm gemm;
  int64_t tokens = 0;
  double mean_log_probability = 0;
  bool is_finished = false;
  bool operator==(const TextSample&) const = default;
};

// The file of the kernel at this place.
std::string SampleFile(size_t index);
// samples.jsonl comes last: a folder without it was not written to its end.
Status WriteSamples(const std::vector<TextSample>& samples, const std::filesystem::path& folder);
// File, line and reason where something is missing or damaged.
Result<std::vector<TextSample>> ReadSamples(const std::filesystem::path& folder);

}  // namespace gemmsmith
