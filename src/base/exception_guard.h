// For libraries of ours behind a C interface, on whose other side nobody can catch what is thrown. Stands alone: such
// libraries are built apart from everything else.
#pragma once

#include <exception>
#include <string>

namespace gemmsmith {

// Does the work, and gives `failed` where it threw; then last_error() is the first line of what was thrown.
class ExceptionGuard {
 public:
  template <class Work>
  auto operator()(Work work, decltype(work()) failed) -> decltype(work()) {
    try {
      return work();
    } catch (const std::exception& error) {
      last_error_ = error.what();
      last_error_ = last_error_.substr(0, last_error_.find('\n'));
    } catch (...) {
      last_error_ = "it threw something that is no std::exception";
    }
    return failed;
  }
  const std::string& last_error() const { return last_error_; }

 private:
  std::string last_error_;
};

}  // namespace gemmsmith
