// Why a plan is illegal: every reason in words for people, or just their number for enumerations of millions.
#pragma once

#include <fmt/format.h>

#include <string>
#include <vector>

namespace gemmsmith {

class Reasons {
 public:
  enum class Mode { kWords, kCountOnly };
  explicit Reasons(Mode mode) : mode_(mode) {}

  template <class... Values>
  void Add(fmt::format_string<Values...> format, Values&&... values) {
    ++count_;
    if (mode_ == Mode::kWords) words_.push_back(fmt::format(format, std::forward<Values>(values)...));
  }
  int count() const { return count_; }
  std::vector<std::string> words() && { return std::move(words_); }

 private:
  Mode mode_;
  int count_ = 0;
  std::vector<std::string> words_;
};

}  // namespace gemmsmith
