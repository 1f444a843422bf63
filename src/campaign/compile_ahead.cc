#include "campaign/compile_ahead.h"

#include <algorithm>

#include "base/all_cores.h"

namespace gemmsmith {

CompileAhead::CompileAhead(const Device& device, Compiler* compiler, int threads)
    : device_(device), compiler_(compiler) {
  if (compiler == nullptr) return;
  if (threads == 0) threads = CoreCount();
  for (int i = 0; i < threads; ++i) threads_.emplace_back([this] { Work(); });
}

CompileAhead::~CompileAhead() {
  {
    const std::lock_guard lock(mutex_);
    closing_ = true;
  }
  work_added_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

void CompileAhead::Add(size_t turn, const EvaluationRequest& request) {
  ++pending_;
  Enqueue(turn + 1, request);
}

void CompileAhead::AddTogether(size_t turn, const std::vector<EvaluationRequest>& requests) {
  {
    const std::lock_guard lock(mutex_);
    together_[turn] = requests.size();
  }
  for (const EvaluationRequest& request : requests) Add(turn, request);
}

CompileAhead::Ticket CompileAhead::Enqueue(size_t turn, const EvaluationRequest& request) {
  const std::lock_guard lock(mutex_);
  const Ticket ticket(turn, next_number_++);
  if (compiler_ == nullptr) {
    ready_.emplace(ticket, Prepared{request, PreparedCandidate{}});
  } else {
    waiting_.emplace(ticket, request);
    work_added_.notify_one();
  }
  return ticket;
}

Result<Candidate> CompileAhead::Extract(std::map<Ticket, Prepared>::iterator ready) {
  Prepared prepared = std::move(ready_.extract(ready).mapped());
  if (!prepared.candidate.ok()) return prepared.candidate.status();
  return Candidate{std::move(prepared.request), *std::move(prepared.candidate)};
}

size_t CompileAhead::CountReady(size_t turn) const {
  return size_t(std::distance(ready_.lower_bound({turn + 1, 0}), ready_.lower_bound({turn + 2, 0})));
}

std::optional<size_t> CompileAhead::TurnToTake(size_t last_turn) const {
  for (auto first = ready_.lower_bound({1, 0}); first != ready_.end();) {
    const size_t turn = first->first.first - 1;
    if (turn > last_turn) break;
    const auto together = together_.find(turn);
    if (together == together_.end() || CountReady(turn) == together->second) return turn;
    first = ready_.lower_bound({turn + 2, 0});
  }
  return std::nullopt;
}

Result<CompileAhead::List> CompileAhead::Take(size_t most, std::chrono::milliseconds limit, size_t last_turn) {
  std::unique_lock lock(mutex_);
  std::optional<size_t> turn;
  List list;
  if (!candidate_ready_.wait_for(lock, limit, [&] { return (turn = TurnToTake(last_turn)).has_value(); })) return list;
  list.turn = *turn;
  const size_t count = CountReady(*turn);
  const size_t taken = together_.erase(*turn) > 0 ? count : std::min(count, most);
  while (list.candidates.size() < taken) {
    --pending_;
    ASSIGN_OR_RETURN(Candidate candidate, Extract(ready_.lower_bound({*turn + 1, 0})));
    list.candidates.push_back(std::move(candidate));
  }
  return list;
}

Result<std::vector<Candidate>> CompileAhead::TakeTogether(size_t turn) {
  while (true) {
    Result<List> list = Take(kListSize, kPatience, turn);
    if (!list.ok()) Forget(turn);
    if (!list.ok()) return list.status();
    if (list->candidates.empty()) continue;
    GEMMSMITH_CHECK(list->turn == turn, "turn {} is left before {}", list->turn, turn);
    return std::move(list->candidates);
  }
}

Result<std::vector<Candidate>> CompileAhead::PrepareNow(const std::vector<EvaluationRequest>& requests) {
  std::vector<Ticket> tickets;
  for (const EvaluationRequest& request : requests) tickets.push_back(Enqueue(0, request));
  std::vector<Candidate> candidates;
  std::unique_lock lock(mutex_);
  while (!waiting_.empty() && waiting_.begin()->first.first == 0) PrepareFirst(lock);
  for (const Ticket& ticket : tickets) {
    candidate_ready_.wait(lock, [&] { return ready_.contains(ticket); });
    ASSIGN_OR_RETURN(Candidate candidate, Extract(ready_.find(ticket)));
    candidates.push_back(std::move(candidate));
  }
  return candidates;
}

void CompileAhead::Forget(size_t turn) {
  const std::lock_guard lock(mutex_);
  const auto of_turn = [turn](const Ticket& ticket) { return ticket.first == turn + 1; };
  pending_ -= std::erase_if(waiting_, [&](const auto& item) { return of_turn(item.first); });
  pending_ -= std::erase_if(under_way_, of_turn);
  pending_ -= std::erase_if(ready_, [&](const auto& item) { return of_turn(item.first); });
  together_.erase(turn);
}

void CompileAhead::PrepareFirst(std::unique_lock<std::mutex>& lock) {
  const auto [ticket, request] = *waiting_.begin();
  waiting_.erase(waiting_.begin());
  under_way_.insert(ticket);
  lock.unlock();
  Prepared prepared{request, Prepare(request, device_, *compiler_)};
  lock.lock();
  if (under_way_.erase(ticket) > 0) ready_.emplace(ticket, std::move(prepared));
  candidate_ready_.notify_all();
}

void CompileAhead::Work() {
  LowerPriority();
  std::unique_lock lock(mutex_);
  while (true) {
    work_added_.wait(lock, [this] { return closing_ || !waiting_.empty(); });
    if (closing_) return;
    PrepareFirst(lock);
  }
}

}  // namespace gemmsmith
