#include "campaign/compile_ahead.h"

#include <algorithm>

namespace gemmsmith {

CompileAhead::CompileAhead(const Device& device, Compiler* compiler, int threads)
    : device_(device), compiler_(compiler) {
  if (compiler == nullptr) return;
  if (threads == 0) threads = int(std::max(1u, std::thread::hardware_concurrency()));
  for (int i = 0; i < threads; ++i) threads_.emplace_back([this] { Work(); });
}

CompileAhead::~CompileAhead() {
  Abandon();
  {
    const std::lock_guard lock(mutex_);
    closing_ = true;
  }
  work_added_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

void CompileAhead::Add(const EvaluationRequest& request) {
  ++pending_;
  const std::lock_guard lock(mutex_);
  const uint64_t ticket = next_ticket_++;
  if (compiler_ == nullptr) {
    ready_.emplace(ticket, Candidate{request, PreparedCandidate{}});
  } else {
    waiting_.emplace_back(ticket, request);
    work_added_.notify_one();
  }
}

std::optional<CompileAhead::Candidate> CompileAhead::Take(std::chrono::milliseconds limit, const Wanted& wanted) {
  std::unique_lock lock(mutex_);
  auto found = ready_.end();
  const auto find = [&] {
    found = std::find_if(ready_.begin(), ready_.end(), [&](const auto& item) { return wanted(item.second.request); });
    return found != ready_.end();
  };
  if (!candidate_ready_.wait_for(lock, limit, find)) return std::nullopt;
  --pending_;
  return std::move(ready_.extract(found).mapped());
}

Result<PreparedCandidate> CompileAhead::PrepareNow(const EvaluationRequest& request) const {
  if (compiler_ == nullptr) return PreparedCandidate{};
  return Prepare(request, device_, *compiler_);
}

void CompileAhead::Abandon() {
  const std::lock_guard lock(mutex_);
  pending_ -= waiting_.size();
  waiting_.clear();
}

void CompileAhead::Work() {
  std::unique_lock lock(mutex_);
  while (true) {
    work_added_.wait(lock, [this] { return closing_ || !waiting_.empty(); });
    if (closing_) return;
    const auto [ticket, request] = std::move(waiting_.front());
    waiting_.pop_front();
    lock.unlock();
    Candidate candidate{request, Prepare(request, device_, *compiler_)};
    lock.lock();
    ready_.emplace(ticket, std::move(candidate));
    candidate_ready_.notify_one();
  }
}

}  // namespace gemmsmith
