// A model and a judge for tests: what is written says what becomes of it.
#pragma once

#include <atomic>
#include <functional>
#include <mutex>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "base/text.h"
#include "llm/writing.h"

namespace gemmsmith {

inline std::string SourceThat(const std::string& fate) { return "// gemmsmith_descriptor_v1 " + fate + "\n"; }
inline std::string AnswerThat(const std::string& fate) {
  return "## Performance analysis\nx\n## Design\ny\n## Code\n```\n" + SourceThat(fate) + "```\n";
}

class FakeModel : public ChatModel {
 public:
  explicit FakeModel(std::function<Result<ChatAnswer>(const ChatRequest&)> answer) : answer_(std::move(answer)) {}
  Result<ChatAnswer> Ask(const ChatRequest& request) override {
    const std::lock_guard lock(mutex_);
    requests_.push_back(request);
    return answer_(request);
  }
  const std::vector<ChatRequest>& requests() const { return requests_; }

 private:
  const std::function<Result<ChatAnswer>(const ChatRequest&)> answer_;
  std::mutex mutex_;
  std::vector<ChatRequest> requests_;
};

// "takes N": measured in N ns. "untimed", "fails" (the machine's), else refused by the compiler.
class FakeSourceJudge : public SourceJudge {
 public:
  explicit FakeSourceJudge(std::string compiler_log = "error: a semicolon") : compiler_log_(std::move(compiler_log)) {}
  Result<std::vector<nlohmann::ordered_json>> Judge(const std::vector<JudgeRequest>& requests) override {
    std::vector<nlohmann::ordered_json> verdicts;
    for (const JudgeRequest& request : requests) {
      judged_.push_back(std::get<FreeForm>(request.subject).text);
      protocols_.push_back(request.protocol);
      verdicts.push_back(VerdictOn(judged_.back()));
    }
    return verdicts;
  }
  const std::vector<std::string>& judged() const { return judged_; }
  const std::vector<Protocol>& protocols() const { return protocols_; }

 private:
  nlohmann::ordered_json VerdictOn(const std::string& source) const {
    if (source.find("fails") != source.npos) return {{"state", "failed"}, {"words", "no disk"}};
    if (source.find("untimed") != source.npos) return {{"state", "untimed"}, {"words", "no GPU"}};
    const std::vector<std::string_view> words = SplitWords(source);
    const double ns = words.size() > 3 && words[2] == "takes" ? *ParseDouble(words[3]) : 0;
    nlohmann::ordered_json verdict = {{"state", "judged"},
                                      {"words", "as told"},
                                      {"passed", ns > 0},
                                      {"outcome", ns > 0 ? "measured" : "compile_failed"},
                                      {"speed_ups", {{"over_autotuning", nullptr}}},
                                      {"timings", nlohmann::ordered_json::array()}};
    if (ns > 0) {
      verdict["speed_ups"]["over_autotuning"] = 1000 / ns;
      verdict["timings"].push_back({{"contender", "ours"}, {"clock", "device_cold"}, {"median_ns", ns}});
    } else {
      verdict["compiler_log"] = compiler_log_;
    }
    return verdict;
  }

  const std::string compiler_log_;
  std::vector<std::string> judged_;
  std::vector<Protocol> protocols_;
};

}  // namespace gemmsmith
