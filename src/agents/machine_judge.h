// The judge of this machine: its compilers and sandbox, and its GPUs or, for plans, the recording of one.
#pragma once

#include <filesystem>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "agents/subject_judge.h"
#include "archive/archive.h"
#include "archive/replay.h"
#include "compile/compiler.h"
#include "compile/source_program.h"

namespace gemmsmith {

struct MachineJudgeOptions {
  std::string device = "auto";    // "auto", "gpu:N", "all", or the key of a known device: then no GPU is used
  std::filesystem::path archive;  // empty: the one under HomeFolder()
  std::string campaign = "judge";
};

class MachineJudge : public SubjectJudge {
 public:
  // Opens at once what is quick. A GPU is held from the first Time() to Rest().
  static Result<std::unique_ptr<MachineJudge>> Open(const MachineJudgeOptions& options);

  const Device& device() const { return device_; }
  const std::string& why_no_gpu() const { return why_no_gpu_; }  // empty: there is one
  Archive& archive() { return *archive_; }

  std::string identity() const override;
  size_t gpus() const override { return gpus_.size(); }
  // Stores the trial of a subject that it ends.
  std::variant<JudgeResult, Candidate> Prepare(const JudgeRequest& request) override;
  // Stores the trials.
  std::vector<JudgeResult> Time(size_t gpu, std::vector<Candidate> candidates) override;
  void Rest(size_t gpu) override { evaluators_[gpu].reset(); }

 private:
  MachineJudge() = default;
  Status FindDevice(const std::string& device);
  EvaluationRequest RequestFor(const JudgeRequest& request) const;
  Result<PreparedCandidate> PrepareHere(const EvaluationRequest& request);
  JudgeResult WithoutGpu(const EvaluationRequest& request, const PreparedCandidate& prepared);
  std::optional<JudgeResult> Replayed(EvaluationRequest request);
  // Judged, or failed where the trial could not be stored.
  JudgeResult Stored(const EvaluationRequest& request, Outcome outcome, const Setting& setting);
  Setting SettingHere() const;

  Device device_;
  std::vector<int> gpus_;
  std::string why_no_gpu_, campaign_;
  bool is_recorded_ = false;  // a recording of the device may answer
  uint64_t seed_ = 0;
  std::unique_ptr<Archive> archive_;
  Result<std::unique_ptr<Compiler>> compiler_ = Unavailable("not opened");
  Result<std::unique_ptr<SourceCompiler>> sources_ = Unavailable("not opened");
  std::vector<std::unique_ptr<Evaluator>> evaluators_;  // one a GPU; null while it rests
  std::once_flag replay_once_;
  std::shared_ptr<const Recording> recording_;
};

}  // namespace gemmsmith
