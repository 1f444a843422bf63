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

  // So much was there before the work began: it does not count for the time left.
  void StartFrom(int64_t done) { first_done_ = done; }
  // news: what matters most now ("best 9.87 us"). May be called for every single step. Where what is done are large
  // pieces of work, `cells` are the small ones of this call whose rate is worth knowing.
  void Update(int64_t done, const std::string& news, std::optional<int64_t> cells = std::nullopt);

 private:
  using Clock = std::chrono::steady_clock;

  std::string Numbers(int64_t done, std::optional<int64_t> cells, double seconds) const;
  void DrawBar(int64_t done, const std::string& numbers, const std::string& news) const;

  const Terminal terminal_;
  const std::string title_;
  const std::optional<int64_t> total_;
  const Clock::time_point start_ = Clock::now();
  Clock::time_point shown_;
  std::optional<int64_t> first_done_;
  bool bar_shown_ = false;
};

// The parts of one line of the bar, so that tests can look at it: never wider than the terminal.
std::string BarLine(const std::string& title, std::optional<double> fraction, const std::string& numbers,
                    const std::string& news, const Terminal& terminal);

}  // namespace gemmsmith
