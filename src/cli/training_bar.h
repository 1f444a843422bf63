// How far the training of a text model is, on standard error.
#pragma once

#include <fmt/format.h>

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>

#include "base/interrupt.h"
#include "base/seconds.h"
#include "cli/exit.h"
#include "cli/progress.h"
#include "cli/run.h"
#include "cli/words.h"
#include "policy/train/training_run.h"

namespace gemmsmith {

class TrainingBar {
 public:
  // `measure` names what is watched: "loss", "reward".
  TrainingBar(const char* name, std::string measure, int64_t steps)
      : bar_(name, steps), measure_(std::move(measure)), steps_(steps) {}

  // They refer to the bar.
  TrainingHooks Hooks() {
    return {.stop = InterruptArrived,
            .watch = [this](int64_t step, std::optional<double> value) { Show(step, value); },
            .note = WriteNote,
            .count = [this](int64_t tokens) { Count(tokens); }};
  }

  // Behind the run: prints where it ended, and gives the exit code.
  Result<int> Finish(const std::filesystem::path& folder) const {
    if (InterruptArrived() && done_ < steps_) {
      RETURN_IF_ERROR(WriteOut(fmt::format("stopped at step {}; the same command goes on\n", done_)));
      return kExitInterrupted;
    }
    const std::string last = value_ ? fmt::format(", {} {:.3f}{}", measure_, *value_, Rate()) : " were done before";
    RETURN_IF_ERROR(
        WriteOut(fmt::format("{} steps{}\n  weights  {}\n", steps_, last, (folder / "weights.safetensors").string())));
    return kExitDone;
  }

 private:
  void Show(int64_t step, std::optional<double> value) {
    if (done_ == 0) bar_.StartFrom(step - 1);
    done_ = step, value_ = value;
    bar_.Update(step, value ? fmt::format("{} {:.3f}{}", measure_, *value, Rate()) : "");
  }

  // The first step is slow: torch makes itself ready.
  void Count(int64_t tokens) {
    if (!first_counted_) {
      first_counted_ = std::chrono::steady_clock::now();
    } else {
      tokens_ += tokens;
    }
  }

  std::string Rate() const {
    if (tokens_ == 0) return "";
    return fmt::format(", {} tokens/s", CountText(int64_t(double(tokens_) / SecondsSince(*first_counted_))));
  }

  Progress bar_;
  const std::string measure_;
  const int64_t steps_;
  int64_t done_ = 0;
  std::optional<double> value_;  // of the last step
  std::optional<std::chrono::steady_clock::time_point> first_counted_;
  int64_t tokens_ = 0;  // since then
};

}  // namespace gemmsmith
