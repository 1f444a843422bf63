// Why a plan is illegal: every reason in words for people, or just the fact for enumerations of millions.
#pragma once

#include <fmt/format.h>

#include <string>
#include <vector>

namespace gemmsmith {

class Reasons {
 public:
  enum class Mode { kWords, kFactOnly };
  explicit Reasons(Mode mode) : mode_(mode) {}

  template <class... Values>
  void Add(fmt::format_string<Values...> format, Values&&... values) {
    any_ = true;
    if (mode_ == Mode::kWords) words_.push_back(fmt::format(format, std::forward<Values>(values)...));
  }
  bool any() const { return any_; }
  std::vector<std::string> words() && { return std::move(words_); }

 private:
  Mode mode_;
  bool any_ = false;
  std::vector<std::string> words_;
};

}  // namespace gemmsmith
