#include "base/run_workers.h"

#include <deque>
#include <future>
#include <numeric>
#include <span>

#include "base/check.h"

namespace gemmsmith {

void RunSideBySide(WorkQueue& queue, size_t workers, const std::function<void(size_t worker)>& work) {
  GEMMSMITH_CHECK(workers > 0, "work without a worker");
  std::vector<size_t> able(workers);
  std::iota(able.begin(), able.end(), size_t{0});
  do {
    std::vector<std::future<void>> others;
    for (const size_t worker : std::span(able).subspan(1))
      others.push_back(std::async(std::launch::async, work, worker));
    work(able.front());
    for (std::future<void>& other : others) other.get();
    std::erase_if(able, [&](size_t worker) { return queue.HasRetired(worker); });
  } while (!able.empty() && queue.CountOpen() > 0 && !queue.IsStopped());
}

void RunWorker(WorkQueue& queue, size_t number, Worker& worker, size_t ahead) {
  std::deque<size_t> own;
  size_t expected = 0;  // those in front
  const auto look_ahead = [&] {
    for (bool any = true; any && own.size() <= ahead;) {
      const std::vector<size_t> leased = queue.Lease(number);
      own.insert(own.end(), leased.begin(), leased.end());
      any = !leased.empty();
    }
    for (; expected <= ahead && expected < own.size(); ++expected) worker.Expect(own[expected]);
  };
  for (look_ahead(); !own.empty() && queue.MayBegin(number); look_ahead()) {
    const size_t item = own.front();
    own.pop_front();
    --expected;
    queue.Begin(number, item);
    worker.Do(item);
  }
  queue.Return(number);
  worker.Finish();
}

void RunOnAll(WorkQueue& queue, size_t workers, size_t ahead,
              const std::function<std::unique_ptr<Worker>(size_t number)>& make_worker) {
  RunSideBySide(queue, workers, [&](size_t number) { RunWorker(queue, number, *make_worker(number), ahead); });
}

void RunOnAll(WorkQueue& queue, size_t workers, const std::function<void(size_t number, size_t item)>& work) {
  class Caller : public Worker {
   public:
    Caller(size_t number, const std::function<void(size_t, size_t)>& work) : number_(number), work_(work) {}
    void Do(size_t item) override { work_(number_, item); }

   private:
    const size_t number_;
    const std::function<void(size_t, size_t)>& work_;
  };
  RunOnAll(queue, workers, 0, [&](size_t number) { return std::make_unique<Caller>(number, work); });
}

}  // namespace gemmsmith
