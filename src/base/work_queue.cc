#include "base/work_queue.h"

#include "base/check.h"

namespace gemmsmith {

WorkQueue::WorkQueue(std::vector<size_t> groups, StopRule& stop, Options options)
    : groups_(std::move(groups)), stop_(stop), options_(std::move(options)) {
  for (size_t item = 0; item < groups_.size(); ++item) open_.insert(open_.end(), item);
}

void WorkQueue::Drop(size_t item) {
  const std::lock_guard lock(mutex_);
  open_.erase(item);
}

std::vector<size_t> WorkQueue::Lease(size_t worker) {
  const std::lock_guard lock(mutex_);
  std::vector<size_t> leased;
  if (retired_.contains(worker)) return leased;
  while (!open_.empty() && (leased.empty() || groups_[*open_.begin()] == groups_[leased.front()])) {
    leased.push_back(*open_.begin());
    open_.erase(open_.begin());
  }
  held_[worker].insert(leased.begin(), leased.end());
  return leased;
}

bool WorkQueue::MayBegin(size_t worker) { return !HasRetired(worker) && !IsStopped(); }

void WorkQueue::Begin(size_t worker, size_t item) {
  {
    const std::lock_guard lock(mutex_);
    GEMMSMITH_CHECK(held_[worker].erase(item) == 1, "worker {} begins item {}, which it does not hold", worker, item);
  }
  if (!options_.on_begin) return;
  const std::lock_guard lock(begin_mutex_);
  options_.on_begin(item, begun_++);
}

void WorkQueue::Succeed(size_t worker) {
  const std::lock_guard lock(mutex_);
  failed_in_row_.erase(worker);
}

bool WorkQueue::Fail(size_t worker, size_t item, const Status& failure) {
  {
    const std::lock_guard lock(mutex_);
    std::set<size_t>& failed = failed_in_row_[worker];
    failed.insert(options_.group_fails_once ? groups_[item] : item);
    if (failed.size() < options_.max_failures) return true;
  }
  Retire(worker, failure);
  return false;
}

void WorkQueue::Retire(size_t worker, const Status& failure) {
  const std::lock_guard lock(mutex_);
  if (failure_.ok()) failure_ = failure;
  retired_.insert(worker);
}

void WorkQueue::Return(size_t worker) {
  const std::lock_guard lock(mutex_);
  open_.merge(held_[worker]);
}

void WorkQueue::CountEvaluations(int count) {
  const std::lock_guard lock(mutex_);
  evaluations_ += count;
}

int WorkQueue::evaluations() const {
  const std::lock_guard lock(mutex_);
  return evaluations_;
}

int WorkQueue::EvaluationsLeft() const {
  const std::lock_guard lock(mutex_);
  return stop_.EvaluationsLeft(Progress());
}

size_t WorkQueue::CountOpen() const {
  const std::lock_guard lock(mutex_);
  return open_.size();
}

bool WorkQueue::HasRetired(size_t worker) const {
  const std::lock_guard lock(mutex_);
  return retired_.contains(worker);
}

bool WorkQueue::IsStopped() {
  const std::lock_guard lock(mutex_);
  if (stop_reason_.empty()) stop_reason_ = stop_.ShouldStop(Progress()).value_or("");
  return !stop_reason_.empty();
}

std::string WorkQueue::stop_reason() const {
  const std::lock_guard lock(mutex_);
  return stop_reason_;
}

Status WorkQueue::failure() const {
  const std::lock_guard lock(mutex_);
  return failure_;
}

}  // namespace gemmsmith
