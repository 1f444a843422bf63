// Work that several workers share. A worker leases a group of items, begins them one by one, and reports each. A worker
// may be a thread, a process or a host: the queue knows it by its number.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "base/seconds.h"
#include "base/status.h"
#include "base/stop_rule.h"

namespace gemmsmith {

// The group of each item: items with equal keys share one.
template <class Items, class KeyOf>
std::vector<size_t> GroupBy(const Items& items, KeyOf key_of) {
  std::map<std::decay_t<decltype(key_of(*std::begin(items)))>, size_t> groups;
  std::vector<size_t> group_of;
  for (const auto& item : items) group_of.push_back(groups.try_emplace(key_of(item), groups.size()).first->second);
  return group_of;
}

// All functions may be called by many workers at once.
class WorkQueue {
 public:
  struct Options {
    // A worker retires after failures in a row. A problem that is too large for a GPU fails by itself; two in a row
    // mean the machine.
    size_t max_failures = 2;
    // The items of a group need the same memory, so their failures count once. False: each counts.
    bool group_fails_once = true;
    // One call at a time, with the count of items that were begun before.
    std::function<void(size_t item, size_t begun)> on_begin;
  };

  // Items are numbered from 0; `groups` names the group of each. The rule outlives the queue.
  WorkQueue(std::vector<size_t> groups, StopRule& stop, Options options);
  WorkQueue(std::vector<size_t> groups, StopRule& stop) : WorkQueue(std::move(groups), stop, Options()) {}

  // Takes an item out that needs no work. Before the first lease.
  void Drop(size_t item);

  // The next open items, as far as they are of one group. Empty: none is open, or the worker has retired.
  std::vector<size_t> Lease(size_t worker);
  // False: no more may begin, because the rule stopped the work or because the worker has retired. The first reason of
  // the rule stays.
  bool MayBegin(size_t worker);
  // An item that the worker holds.
  void Begin(size_t worker, size_t item);
  // A part of an item, or all of it, went well: the worker's failures in a row are over.
  void Succeed(size_t worker);
  // An item could not be done. False: the worker has retired by it.
  bool Fail(size_t worker, size_t item, const Status& failure);
  // The worker cannot go on.
  void Retire(size_t worker, const Status& failure);
  // Opens what the worker holds and has not begun, for the others. For a worker that ends, or that was lost.
  void Return(size_t worker);

  // Evaluations count for the rule.
  void CountEvaluations(int count);
  int evaluations() const;
  int EvaluationsLeft() const;
  double seconds() const { return SecondsSince(start_); }

  size_t CountOpen() const;
  bool HasRetired(size_t worker) const;
  bool IsStopped();                 // asks the rule
  std::string stop_reason() const;  // empty: no rule stopped the work
  Status failure() const;           // of the first worker that retired

 private:
  StopRule::Progress Progress() const { return {evaluations_, seconds()}; }

  const std::vector<size_t> groups_;
  StopRule& stop_;
  const Options options_;
  const std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();

  mutable std::mutex mutex_;
  std::set<size_t> open_;
  std::map<size_t, std::set<size_t>> held_;           // leased and not begun, by worker
  std::map<size_t, std::set<size_t>> failed_in_row_;  // groups or items, by worker
  std::set<size_t> retired_;
  Status failure_;
  std::string stop_reason_;
  int evaluations_ = 0;

  std::mutex begin_mutex_;
  size_t begun_ = 0;
};

}  // namespace gemmsmith
