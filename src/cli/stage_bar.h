// How far a stage of the corpus is, on standard error, and what ends it.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "base/interrupt.h"
#include "cli/exit.h"
#include "cli/progress.h"
#include "corpus/snippet_stage.h"

namespace gemmsmith {

class StageBar {
 public:
  std::function<void(int64_t shards, int64_t of)> Watch() {
    return [this](int64_t shards, int64_t of) {
      if (!bar_) bar_.emplace("shards", of);
      bar_->Update(shards, "");
    };
  }
  // Prints the summary, and gives the exit code.
  Result<int> Finish(const StageSummary& summary, const std::string& text) {
    bar_.reset();
    RETURN_IF_ERROR(WriteOut(text));
    if (summary.is_whole()) return kExitDone;
    WriteNote("stopped; the same command goes on");
    return kExitInterrupted;
  }

 private:
  std::optional<Progress> bar_;
};

}  // namespace gemmsmith
