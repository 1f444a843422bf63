// When to begin nothing more, so that a pass ends near its limit though calls under way are waited for.
#pragma once

#include <algorithm>
#include <mutex>
#include <optional>

namespace gemmsmith {

class Deadline {
 public:
  explicit Deadline(std::optional<double> limit_seconds) : limit_seconds_(limit_seconds) {}

  // A call that is waited for has ended. For many threads.
  void AddCall(double seconds) {
    const std::lock_guard lock(mutex_);
    longest_seconds_ = std::max(longest_seconds_, seconds);
  }
  // The last item may wait for one of the longest calls and then need another. Nothing is known of calls before the
  // first has ended.
  bool Passed(double elapsed_seconds) const {
    const std::lock_guard lock(mutex_);
    return limit_seconds_ && elapsed_seconds + 2 * longest_seconds_ >= *limit_seconds_;
  }

 private:
  const std::optional<double> limit_seconds_;
  mutable std::mutex mutex_;
  double longest_seconds_ = 0;
};

}  // namespace gemmsmith
