#include "base/all_cores.h"

#include <sched.h>
#include <sys/resource.h>

#include <algorithm>
#include <atomic>
#include <thread>
#include <vector>

#include "base/files.h"
#include "base/text.h"

namespace gemmsmith {

namespace {

int CoresOfAffinity() {
  cpu_set_t cores;
  CPU_ZERO(&cores);
  if (sched_getaffinity(0, sizeof cores, &cores) == 0) return CPU_COUNT(&cores);
  return int(std::max(1u, std::thread::hardware_concurrency()));  // more of them than the set has room for
}

}  // namespace

std::optional<int> CoresOfQuota(std::string_view cpu_max) {
  const std::vector<std::string_view> words = SplitWords(cpu_max);
  if (words.size() != 2) return std::nullopt;
  const std::optional<int64_t> quota = ParseInteger(words[0]), period = ParseInteger(words[1]);
  if (!quota || !period || *quota <= 0 || *period <= 0) return std::nullopt;
  return int(std::min<int64_t>((*quota + *period - 1) / *period, 1 << 16));
}

int CoreCount() {
  const int cores = CoresOfAffinity();
  const Result<std::string> cpu_max = ReadFile("/sys/fs/cgroup/cpu.max");  // a container sees its own group there
  const std::optional<int> paid = cpu_max.ok() ? CoresOfQuota(*cpu_max) : std::nullopt;
  return std::max(1, paid ? std::min(cores, *paid) : cores);
}

void LowerPriority() { static_cast<void>(setpriority(PRIO_PROCESS, 0, 10)); }  // on Linux of the thread that calls

void ForEachOnAllCores(size_t count, const std::function<void(size_t)>& work) {
  std::atomic<size_t> next = 0;
  std::vector<std::jthread> threads;
  for (int i = 0; i < CoreCount(); ++i)
    threads.emplace_back([&] {
      for (size_t at; (at = next++) < count;) work(at);
    });
}

}  // namespace gemmsmith
