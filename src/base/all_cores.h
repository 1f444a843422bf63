// The cores that are ours, and the same work for many items on all of them.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string_view>

namespace gemmsmith {

// Those that the calling thread may run on, and no more than its control group pays for; at least one. (What the
// standard library counts are the machine's: each of four campaigns with a quarter of 64 cores ran 64 compilers.)
int CoreCount();

// Of a control group's cpu.max, "QUOTA PERIOD" in microseconds; nothing for "max" and for what is no such text.
std::optional<int> CoresOfQuota(std::string_view cpu_max);

// The calling thread, and what it starts from now on, runs where others leave it a core: a late launch of a kernel by
// whoever judges would show in the times of calls.
void GiveWay();

// work(0) ... work(count - 1), in any order and several at once; returns when all are done.
void ForEachOnAllCores(size_t count, const std::function<void(size_t)>& work);

}  // namespace gemmsmith
