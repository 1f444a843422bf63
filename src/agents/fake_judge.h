// A judge for tests: a source's text says what becomes of it.
#pragma once

#include <atomic>
#include <condition_variable>
#include <mutex>

#include "agents/subject_judge.h"

namespace gemmsmith {

// "ends": wrong in preparation. "untimed", "fails": these states. Every other text is a candidate, measured by Time().
// While closed, nothing comes out of Prepare().
class FakeJudge : public SubjectJudge {
 public:
  explicit FakeJudge(size_t gpus = 1) : gpus_(gpus) {}

  std::string identity() const override { return "fake"; }
  size_t gpus() const override { return gpus_; }

  std::variant<JudgeResult, Candidate> Prepare(const JudgeRequest& request) override {
    {
      std::unique_lock lock(mutex_);
      ++prepared_;
      changed_.notify_all();
      changed_.wait(lock, [&] { return is_open_; });
    }
    const std::string text = std::get<FreeForm>(request.subject).text;
    if (text == "untimed" || gpus_ == 0) return JudgeResult{.state = JudgeState::kUntimed, .why = "no GPU"};
    if (text == "fails") return JudgeResult{.state = JudgeState::kFailed, .why = "no disk"};
    if (text == "ends")
      return JudgeResult{.outcome = {.kind = OutcomeKind::kWrong, .stage = "resources", .reason = "f16"}};
    return Candidate{
        {{.gemm = request.gemm, .protocol = request.protocol, .counters = request.counters}, request.subject}, {}};
  }

  std::vector<JudgeResult> Time(size_t, std::vector<Candidate> candidates) override {
    for (const Candidate& candidate : candidates)
      if (candidate.request.gemm != candidates.front().request.gemm) mixed_ = true;
    timed_ += int(candidates.size());
    return std::vector(candidates.size(), JudgeResult{.outcome = {.kind = OutcomeKind::kMeasured}});
  }

  void Rest(size_t) override { ++rests_; }

  void Open(bool is_open) {
    const std::lock_guard lock(mutex_);
    is_open_ = is_open;
    changed_.notify_all();
  }
  void WaitForPrepared(int count) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return prepared_ >= count; });
  }

  int prepared() const {
    const std::lock_guard lock(mutex_);
    return prepared_;
  }
  std::atomic<int> timed_ = 0, rests_ = 0;
  std::atomic<bool> mixed_ = false;

 private:
  const size_t gpus_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  int prepared_ = 0;
  bool is_open_ = true;
};

inline JudgeRequest SourceNamed(std::string text, Shape shape = {64, 64, 64}) {
  return {.gemm = {.shape = shape}, .subject = FreeForm{"a source", std::move(text)}};
}

}  // namespace gemmsmith
