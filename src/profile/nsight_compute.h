// Nsight Compute as an observer: its command line, and what its CSV says.
#pragma once

#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"

namespace gemmsmith {

// Profiles the second launch of `kernel` in `watched`, with the clocks and caches as they are: the first one warms up.
std::vector<std::string> NsightComputeCommand(const std::filesystem::path& ncu,
                                              std::span<const std::string_view> metrics, const std::string& kernel,
                                              const std::vector<std::string>& watched);

// Metric values by name, in nanoseconds, bytes and bytes a second where they have such units; what it calls "n/a" is
// left out. Reads both its pages: one row a metric ("details") and one column a metric ("raw"). A Status, with what it
// said instead, where there is no table.
Result<std::map<std::string, double>> ParseNsightCompute(std::string_view output);

}  // namespace gemmsmith
