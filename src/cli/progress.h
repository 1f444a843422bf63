// How far long work has come, on standard error: a bar that moves on a terminal, seldom lines elsewhere.
#pragma once

#include <chrono>
#include <optional>
#include <string>

#include "cli/terminal.h"

namespace gemmsmith {

class Progress {
 public:
  Progress(std::string title, std::optional<int64_t> total);
  ~Progress();  // takes the bar away

  // news: what matters most now ("best 9.87 us"). May be called for every single step.
  void Update(int64_t done, const std::string& news);

 private:
  using Clock = std::chrono::steady_clock;

  std::string Numbers(int64_t done, double seconds) const;
  void DrawBar(int64_t done, double seconds, const std::string& news) const;

  const Terminal terminal_;
  const std::string title_;
  const std::optional<int64_t> total_;
  const Clock::time_point start_ = Clock::now();
  Clock::time_point shown_;
  std::optional<int64_t> first_done_;  // what was there before the work began does not count for the rate
  bool bar_shown_ = false;
};

// The parts of one line of the bar, so that tests can look at it: never wider than the terminal.
std::string BarLine(const std::string& title, std::optional<double> fraction, const std::string& numbers,
                    const std::string& news, const Terminal& terminal);

}  // namespace gemmsmith
