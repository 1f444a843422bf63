// Candidates on their way to the GPU: prepared (legality, compilation, facts) on several threads while others are
// judged.
#pragma once

#include <chrono>
#include <condition_variable>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "evaluate/evaluator.h"

namespace gemmsmith {

class CompileAhead {
 public:
  struct Candidate {
    EvaluationRequest request;
    Result<PreparedCandidate> prepared;
  };

  // Without a compiler (replay) every candidate is ready at once, unprepared. threads 0: all cores.
  CompileAhead(const Device& device, Compiler* compiler, int threads);
  ~CompileAhead();  // Abandon(), then waits for what has begun

  void Add(const EvaluationRequest& request);
  // Added and not yet taken.
  size_t pending() const { return pending_; }
  // How many candidates are worth having under way: enough that no thread waits while one candidate is judged.
  size_t window() const { return threads_.empty() ? 1 : 2 * threads_.size(); }
  // The earliest added one that is ready and wanted. A slow compilation holds up nobody else's. Nothing when none gets
  // ready in time.
  using Wanted = std::function<bool(const EvaluationRequest&)>;
  std::optional<Candidate> Take(
      std::chrono::milliseconds limit, const Wanted& wanted = [](const auto&) { return true; });
  // On the calling thread, past everything that waits.
  Result<PreparedCandidate> PrepareNow(const EvaluationRequest& request) const;
  // Forgets what has not begun, so that compiling disturbs nothing from here on.
  void Abandon();

 private:
  void Work();

  const Device device_;
  Compiler* const compiler_;
  size_t pending_ = 0;  // touched by the owner's thread only

  std::mutex mutex_;
  std::condition_variable work_added_, candidate_ready_;
  std::deque<std::pair<uint64_t, EvaluationRequest>> waiting_;
  std::map<uint64_t, Candidate> ready_;  // by the order of Add
  uint64_t next_ticket_ = 0;
  bool closing_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace gemmsmith
