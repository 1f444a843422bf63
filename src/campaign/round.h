// A round over many problems on several GPUs: what promotion and certification share.
#pragma once

#include <functional>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "base/work_queue.h"
#include "problem/gemm.h"

namespace gemmsmith {

// One problem in up to so many layouts is done together.
inline constexpr size_t kMaxLayouts = 2;
// Items of a round, by index: one problem in different layouts.
using Layouts = std::vector<size_t>;

// Joins neighbours of one shape, in the order of their first items.
std::vector<Layouts> JoinLayouts(const std::vector<Gemm>& items);

// One call at a time, with the count of items that were begun before.
using OnBegin = std::function<void(size_t begun, const Gemm&)>;

// The queue deals out problems, a list of layouts each. A shape is one group. For many threads, but for Collect().
template <class Done>
class Round {
 public:
  Round(std::vector<Gemm> items, StopRule& stop, OnBegin on_begin)
      : items_(std::move(items)),
        problems_(JoinLayouts(items_)),
        on_begin_(std::move(on_begin)),
        queue_(GroupBy(problems_, [this](const Layouts& layouts) { return items_[layouts.front()].shape; }), stop,
               {.on_begin = [this](size_t problem, size_t) { TellOf(problem); }}),
        outcomes_(items_.size()) {}

  WorkQueue& queue() { return queue_; }
  const Layouts& LayoutsOf(size_t problem) const { return problems_[problem]; }

  void Report(size_t worker, size_t problem, size_t item, Result<Done> outcome) {
    const Status status = outcome.status();
    {
      const std::lock_guard lock(mutex_);
      outcomes_[item] = std::move(outcome);
    }
    if (status.ok())
      queue_.Succeed(worker);
    else
      queue_.Fail(worker, problem, status);
  }

  // In the order of the items.
  void Collect(const std::function<void(const Gemm&, Done)>& on_done, std::vector<std::pair<Gemm, Status>>& failures,
               size_t& left) {
    for (size_t item = 0; item < items_.size(); ++item) {
      std::optional<Result<Done>>& outcome = outcomes_[item];
      if (!outcome)
        ++left;
      else if (outcome->ok())
        on_done(items_[item], **std::move(outcome));
      else
        failures.emplace_back(items_[item], outcome->status());
    }
  }

 private:
  void TellOf(size_t problem) {
    for (const size_t item : problems_[problem]) on_begin_(begun_++, items_[item]);
  }

  const std::vector<Gemm> items_;
  const std::vector<Layouts> problems_;
  const OnBegin on_begin_;
  WorkQueue queue_;
  size_t begun_ = 0;
  std::mutex mutex_;
  std::vector<std::optional<Result<Done>>> outcomes_;  // nullopt: not done
};

}  // namespace gemmsmith
