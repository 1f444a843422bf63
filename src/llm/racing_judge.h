// A judge for tests of rewards.
#pragma once

#include <string>
#include <variant>
#include <vector>

#include "agents/fake_judge.h"

namespace gemmsmith {

// "fast" sources lead AutoTuning by 1.5; what ends in preparation is wrong.
class RacingJudge : public FakeJudge {
 public:
  using FakeJudge::FakeJudge;
  std::variant<JudgeResult, Candidate> Prepare(const JudgeRequest& request) override {
    JudgeRequest told = request;
    std::string& text = std::get<FreeForm>(told.subject).text;
    for (const char* fate : {"untimed", "fails", "ends"})
      if (text.find(fate) != text.npos) text = fate;
    return FakeJudge::Prepare(told);
  }
  std::vector<JudgeResult> Time(size_t gpu, std::vector<Candidate> candidates) override {
    std::vector<JudgeResult> results = FakeJudge::Time(gpu, candidates);
    for (size_t i = 0; i < results.size(); ++i) {
      const std::string& text = std::get<FreeForm>(candidates[i].request.subject).text;
      if (text.find("fast") == text.npos) continue;
      results[i].outcome.timings.push_back({.contender = "ours", .clock = Clock::kDeviceCold, .median_ns = 1000});
      results[i].outcome.comparisons.push_back(
          {.baseline = "lt_auto_tn", .clock = Clock::kDeviceCold, .ratio = {.median = 1.5}, .contender = "ours"});
    }
    return results;
  }
};

}  // namespace gemmsmith
