// When to begin nothing more, so that a pass is over at its limit though it waits for what is under way.
#pragma once

#include <algorithm>
#include <mutex>
#include <optional>

namespace gemmsmith {

class ClosingTime {
 public:
  explicit ClosingTime(std::optional<double> limit_seconds) : limit_seconds_(limit_seconds) {}

  // What was under way took so long: what is begun from now on may take as long. By any thread.
  void Took(double seconds) {
    const std::lock_guard lock(mutex_);
    longest_seconds_ = std::max(longest_seconds_, seconds);
  }
  bool HasCome(double elapsed_seconds) const {
    const std::lock_guard lock(mutex_);
    return limit_seconds_ && elapsed_seconds + longest_seconds_ >= *limit_seconds_;
  }

 private:
  const std::optional<double> limit_seconds_;
  mutable std::mutex mutex_;
  double longest_seconds_ = 0;
};

}  // namespace gemmsmith
