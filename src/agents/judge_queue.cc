#include "agents/judge_queue.h"

#include <algorithm>
#include <nlohmann/json.hpp>

namespace gemmsmith {
namespace {

constexpr size_t kMostTogether = 16;

bool OnTheSameTerms(const EvaluationRequest& first, const EvaluationRequest& second) {
  return static_cast<const JudgingTerms&>(first) == static_cast<const JudgingTerms&>(second);
}

}  // namespace

JudgeQueue::JudgeQueue(SubjectJudge& judge, JudgeJournal& journal, const JudgeQueueOptions& options)
    : judge_(judge), journal_(journal), options_(options) {}

Result<std::unique_ptr<JudgeQueue>> JudgeQueue::Open(SubjectJudge& judge, JudgeJournal& journal,
                                                     const JudgeQueueOptions& options) {
  std::unique_ptr<JudgeQueue> queue(new JudgeQueue(judge, journal, options));
  if (options.resumes) {
    ASSIGN_OR_RETURN(std::vector<JudgeJob> pending, journal.Pending());
    queue->Enqueue(std::move(pending));
  }
  queue->Start();
  return queue;
}

void JudgeQueue::Start() {
  for (size_t i = 0; i < options_.prepare_threads; ++i) threads_.emplace_back([this] { PrepareLoop(); });
  for (size_t gpu = 0; gpu < judge_.gpus(); ++gpu) threads_.emplace_back([this, gpu] { TimeLoop(gpu); });
}

JudgeQueue::~JudgeQueue() {
  {
    const std::lock_guard lock(mutex_);
    closing_ = true;
  }
  work_.notify_all(), ready_.notify_all(), answered_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

void JudgeQueue::Enqueue(std::vector<JudgeJob> jobs) {
  for (JudgeJob& job : jobs) {
    under_way_.insert(job.id);
    waiting_.push_back(std::move(job));
  }
  work_.notify_all();
}

Result<Submission> JudgeQueue::Submit(std::vector<JudgeRequest> requests) {
  const std::lock_guard lock(mutex_);
  Submission submission;
  std::vector<JudgeJob> added;
  std::set<std::string> adding;
  for (JudgeRequest& request : requests) {
    const std::string& id = submission.ids.emplace_back(IdOf(request, judge_.identity()));
    if (under_way_.contains(id) || adding.contains(id)) continue;
    ASSIGN_OR_RETURN(const std::optional<JudgeAnswer> known, journal_.Find(id));
    if (known && known->state == JudgeState::kJudged) continue;
    adding.insert(id);
    added.push_back({id, std::move(request)});
  }
  if (!added.empty() && under_way_.size() + added.size() > options_.capacity) {
    ++counts_.refused;
    return Submission{.is_full = true, .ids = {}};
  }
  RETURN_IF_ERROR(journal_.Accept(added));
  counts_.accepted += int64_t(added.size());
  counts_.known += int64_t(requests.size() - added.size());
  for (const JudgeJob& job : added) unsaved_.erase(job.id);
  Enqueue(std::move(added));
  return submission;
}

bool JudgeQueue::IsUnderWay(const std::string& id) const {
  const std::lock_guard lock(mutex_);
  return under_way_.contains(id);
}

Result<std::optional<JudgeAnswer>> JudgeQueue::Find(const std::string& id) const {
  {
    const std::lock_guard lock(mutex_);
    if (under_way_.contains(id)) return std::optional(JudgeAnswer{JudgeState::kPending, PrintLine(PendingJson(id))});
    if (const auto unsaved = unsaved_.find(id); unsaved != unsaved_.end()) return std::optional(unsaved->second);
  }
  return journal_.Find(id);
}

Result<std::optional<JudgeAnswer>> JudgeQueue::Wait(const std::string& id, std::chrono::milliseconds limit) {
  {
    std::unique_lock lock(mutex_);
    answered_.wait_for(lock, limit, [&] { return closing_ || !under_way_.contains(id); });
  }
  return Find(id);
}

JudgeCounts JudgeQueue::counts() const {
  const std::lock_guard lock(mutex_);
  JudgeCounts counts = counts_;
  counts.under_way = under_way_.size();
  counts.capacity = options_.capacity;
  return counts;
}

void JudgeQueue::PrepareLoop() {
  std::unique_lock lock(mutex_);
  while (true) {
    work_.wait(lock, [&] { return closing_ || !waiting_.empty(); });
    if (closing_) return;
    JudgeJob job = std::move(waiting_.front());
    waiting_.pop_front();
    lock.unlock();
    std::variant<JudgeResult, Candidate> prepared = judge_.Prepare(job.request);
    if (const JudgeResult* const result = std::get_if<JudgeResult>(&prepared)) Finish(job, *result);
    lock.lock();
    if (!std::holds_alternative<Candidate>(prepared)) continue;
    prepared_.push_back({std::move(job), std::get<Candidate>(std::move(prepared))});
    ready_.notify_one();
  }
}

std::vector<JudgeQueue::Prepared> JudgeQueue::TakeTogether() {
  std::vector<Prepared> taken;
  for (auto next = prepared_.begin(); next != prepared_.end() && taken.size() < kMostTogether;) {
    if (!taken.empty() && !OnTheSameTerms(next->candidate.request, taken.front().candidate.request)) {
      ++next;
      continue;
    }
    taken.push_back(std::move(*next));
    next = prepared_.erase(next);
  }
  return taken;
}

void JudgeQueue::TimeLoop(size_t gpu) {
  std::unique_lock lock(mutex_);
  while (true) {
    if (!ready_.wait_for(lock, options_.rest_after, [&] { return closing_ || !prepared_.empty(); })) {
      lock.unlock();
      judge_.Rest(gpu);
      lock.lock();
      continue;
    }
    if (closing_) return;
    std::vector<Prepared> taken = TakeTogether();
    lock.unlock();
    std::vector<Candidate> candidates;
    for (Prepared& prepared : taken) candidates.push_back(std::move(prepared.candidate));
    const std::vector<JudgeResult> results = judge_.Time(gpu, std::move(candidates));
    GEMMSMITH_CHECK(results.size() == taken.size(), "{} results for {} candidates", results.size(), taken.size());
    for (size_t i = 0; i < taken.size(); ++i) Finish(taken[i].job, results[i]);
    lock.lock();
  }
}

void JudgeQueue::Finish(const JudgeJob& job, const JudgeResult& result) {
  const JudgeAnswer answer{result.state, PrintLine(JsonOf(result, job.request, job.id))};
  const Status saved = journal_.Finish(job.id, answer);
  {
    const std::lock_guard lock(mutex_);
    if (!saved.ok()) unsaved_[job.id] = answer;
    under_way_.erase(job.id);
    ++counts_.answered[answer.state];
    if (answer.state == JudgeState::kJudged) ++counts_.outcomes[std::string(Name(result.outcome.kind))];
  }
  answered_.notify_all();
}

}  // namespace gemmsmith
