// The workers of a queue that are threads of this process.
#pragma once

#include <functional>
#include <memory>

#include "base/work_queue.h"

namespace gemmsmith {

// Calls work(0) ... work(workers - 1) side by side, each until it leaves nothing that it may take. Workers that have
// not retired are called again while another one returned items.
void RunSideBySide(WorkQueue& queue, size_t workers, const std::function<void(size_t worker)>& work);

// A worker that takes one item after the other. It reports them to the queue, at once or later.
class Worker {
 public:
  virtual ~Worker() = default;
  // Announces items, in the order in which they will be done. Another worker may do the last of them instead.
  virtual void Expect(size_t /*item*/) {}
  virtual void Do(size_t item) = 0;
  // Completes what is under way.
  virtual void Finish() {}
};

// Up to `ahead` items are expected beyond the one that is done.
void RunWorker(WorkQueue& queue, size_t number, Worker& worker, size_t ahead);
void RunOnAll(WorkQueue& queue, size_t workers, size_t ahead,
              const std::function<std::unique_ptr<Worker>(size_t number)>& make_worker);
// Calls work(number, item) for one item after the other.
void RunOnAll(WorkQueue& queue, size_t workers, const std::function<void(size_t number, size_t item)>& work);

}  // namespace gemmsmith
