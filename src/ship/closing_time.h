// When to begin nothing more, so that a pass is over near its limit though it waits for what is under way.
#pragma once

#include <algorithm>
#include <mutex>
#include <optional>

namespace gemmsmith {

class ClosingTime {
 public:
  explicit ClosingTime(std::optional<double> limit_seconds) : limit_seconds_(limit_seconds) {}

  // A call that is waited for took so long. By any thread.
  void Took(double seconds) {
    const std::lock_guard lock(mutex_);
    longest_seconds_ = std::max(longest_seconds_, seconds);
  }
  // What is begun last may wait for one such call and then needs another. Before one has ended nothing is known of
  // them.
  bool HasCome(double elapsed_seconds) const {
    const std::lock_guard lock(mutex_);
    return limit_seconds_ && elapsed_seconds + 2 * longest_seconds_ >= *limit_seconds_;
  }

 private:
  const std::optional<double> limit_seconds_;
  mutable std::mutex mutex_;
  double longest_seconds_ = 0;
};

}  // namespace gemmsmith
