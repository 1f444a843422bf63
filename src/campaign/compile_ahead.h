// Candidates on their way to the GPU: prepared (legality, compilation, facts) on several threads while others are
// judged.
#pragma once

#include <chrono>
#include <condition_variable>
#include <limits>
#include <map>
#include <mutex>
#include <set>
#include <thread>
#include <utility>
#include <vector>

#include "evaluate/evaluator.h"

namespace gemmsmith {

// How many candidates are judged in one exchange while there are more: enough that the exchange itself costs little,
// few enough that a search learns soon.
inline constexpr size_t kListSize = 16;
// How often who waits for the compiler looks up, as at his stop rules.
inline constexpr std::chrono::milliseconds kPatience{50};

class CompileAhead {
 public:
  // Candidates that are ready and may be judged together.
  struct List {
    size_t turn = 0;
    std::vector<Candidate> candidates;  // in the order of Add; empty: none got ready in time
  };

  // Without a compiler (replay) every candidate is ready at once, unprepared. threads 0: all cores.
  CompileAhead(const Device& device, Compiler* compiler, int threads);
  ~CompileAhead();  // waits for what has begun

  // All candidates of one turn are of one problem, in whatever layouts, and one protocol; lower turns are prepared and
  // taken first.
  void Add(size_t turn, const EvaluationRequest& request);
  // Of a turn that has nothing else: taken when the last one is ready, and all at once.
  void AddTogether(size_t turn, const std::vector<EvaluationRequest>& requests);
  bool compiles() const { return !threads_.empty(); }
  // Added, and neither taken nor forgotten.
  size_t pending() const { return pending_; }
  // How many candidates are worth having under way: a list at the GPU, one that gets ready, and no thread without work.
  // Without a compiler a list, so that a search in a replay knows about as much as one on a GPU.
  size_t window() const { return compiles() ? 4 * threads_.size() + 2 * kListSize : kListSize; }
  // Up to `most` ready candidates of the lowest turn that has any, up to the last one that is wanted. Takes what is
  // ready rather than wait for more; a slow compilation holds up nobody else's.
  Result<List> Take(size_t most, std::chrono::milliseconds limit,
                    size_t last_turn = std::numeric_limits<size_t>::max());
  // Waits for all of a turn of AddTogether, the lowest that is left; where one of them failed they are forgotten.
  Result<std::vector<Candidate>> TakeTogether(size_t turn);
  // Before everything that waits, the calling thread helping; in the order of the requests.
  Result<std::vector<Candidate>> PrepareNow(const std::vector<EvaluationRequest>& requests);
  // What was added for this turn and not taken will never come.
  void Forget(size_t turn);

 private:
  // Turn 0 is that of PrepareNow; those of Add follow.
  using Ticket = std::pair<size_t, uint64_t>;
  struct Prepared {
    EvaluationRequest request;
    Result<PreparedCandidate> candidate;
  };

  Ticket Enqueue(size_t turn, const EvaluationRequest& request);
  Result<Candidate> Extract(std::map<Ticket, Prepared>::iterator ready);
  // Under the lock: the lowest turn of Add or AddTogether that may be taken from.
  std::optional<size_t> TurnToTake(size_t last_turn) const;
  size_t CountReady(size_t turn) const;
  // The first that waits; the lock is held before and after.
  void PrepareFirst(std::unique_lock<std::mutex>& lock);
  void Work();

  const Device device_;
  Compiler* const compiler_;
  size_t pending_ = 0;  // touched by the owner only, one thread at a time

  std::mutex mutex_;
  std::condition_variable work_added_, candidate_ready_;
  std::map<Ticket, EvaluationRequest> waiting_;
  std::set<Ticket> under_way_;
  std::map<Ticket, Prepared> ready_;
  std::map<size_t, size_t> together_;  // how many candidates a turn of AddTogether has
  uint64_t next_number_ = 0;
  bool closing_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace gemmsmith
