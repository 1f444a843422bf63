// A bounded queue before the judge. Requests are idempotent by content: one that was judged is answered from the
// journal, one that is under way is joined.
#pragma once

#include <chrono>
#include <condition_variable>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "agents/judge_journal.h"
#include "agents/subject_judge.h"

namespace gemmsmith {

// A client may wait so long for an answer.
inline constexpr int kMostWaitSeconds = 600;

struct JudgeQueueOptions {
  size_t capacity = 256;  // requests under way
  size_t prepare_threads = 1;
  std::chrono::milliseconds rest_after{30'000};  // a GPU without work is given back
  bool resumes = false;                          // judges what the journal holds as pending
};

// Since the queue was opened.
struct JudgeCounts {
  int64_t accepted = 0;  // new ones; neither known nor under way
  int64_t known = 0;     // answered from the journal, or joined
  int64_t refused = 0;   // for lack of room
  std::map<JudgeState, int64_t> answered;
  std::map<std::string, int64_t> outcomes;  // of judged ones, by name
  size_t under_way = 0;
  size_t capacity = 0;
};

// One of many: the ids in the order of the requests, or no room for those that are new.
struct Submission {
  bool is_full = false;
  std::vector<std::string> ids;
};

class JudgeQueue {
 public:
  // Both outlive the queue.
  static Result<std::unique_ptr<JudgeQueue>> Open(SubjectJudge& judge, JudgeJournal& journal,
                                                  const JudgeQueueOptions& options);
  // Waits for what has begun. What waits stays pending in the journal.
  ~JudgeQueue();

  // All or none. In the journal when it returns. A Status where the journal failed.
  Result<Submission> Submit(std::vector<JudgeRequest> requests);
  bool IsUnderWay(const std::string& id) const;
  // The answer, pending or not; nullopt for an id that was never accepted.
  Result<std::optional<JudgeAnswer>> Find(const std::string& id) const;
  // Waits until it is answered, for so long at most.
  Result<std::optional<JudgeAnswer>> Wait(const std::string& id, std::chrono::milliseconds limit);
  JudgeCounts counts() const;

 private:
  struct Prepared {
    JudgeJob job;
    Candidate candidate;
  };

  JudgeQueue(SubjectJudge& judge, JudgeJournal& journal, const JudgeQueueOptions& options);
  void Start();
  void Enqueue(std::vector<JudgeJob> jobs);  // under the lock
  void PrepareLoop();
  void TimeLoop(size_t gpu);
  // Under the lock: the first that is ready and others on its terms.
  std::vector<Prepared> TakeTogether();
  void Finish(const JudgeJob& job, const JudgeResult& result);

  SubjectJudge& judge_;
  JudgeJournal& journal_;
  const JudgeQueueOptions options_;

  mutable std::mutex mutex_;
  std::condition_variable work_, ready_, answered_;
  std::deque<JudgeJob> waiting_;
  std::deque<Prepared> prepared_;
  std::set<std::string> under_way_;
  // Answers that the journal could not take.
  std::map<std::string, JudgeAnswer> unsaved_;
  JudgeCounts counts_;
  bool closing_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace gemmsmith
