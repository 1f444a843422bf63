#include "base/all_cores.h"

#include <algorithm>
#include <atomic>
#include <thread>
#include <vector>

namespace gemmsmith {

void ForEachOnAllCores(size_t count, const std::function<void(size_t)>& work) {
  std::atomic<size_t> next = 0;
  std::vector<std::jthread> threads;
  for (unsigned i = 0; i < std::max(1u, std::thread::hardware_concurrency()); ++i)
    threads.emplace_back([&] {
      for (size_t at; (at = next++) < count;) work(at);
    });
}

}  // namespace gemmsmith
