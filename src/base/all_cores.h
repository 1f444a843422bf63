// The cores that are ours, and the same work for many items on all of them.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string_view>

namespace gemmsmith {

// Cores that the calling thread may run on, at most as many as its control group pays for; at least one. The standard
// library counts all cores of the machine, which starts too many compilers in a container.
int CoreCount();

// Reads a control group's cpu.max, "QUOTA PERIOD" in microseconds. Returns nullopt for "max" and for any other text.
std::optional<int> CoresOfQuota(std::string_view cpu_max);

// Lowers the priority of the calling thread and of all that it starts from now on. A judge that launches kernels late
// would measure longer calls.
void LowerPriority();

// work(0) ... work(count - 1), in any order and several at once; returns when all are done.
void ForEachOnAllCores(size_t count, const std::function<void(size_t)>& work);

}  // namespace gemmsmith
