// A Status reports a failure of the environment: disk, driver, network, a missing toolchain. Bugs of this program abort
// through GEMMSMITH_CHECK. A bad candidate kernel is an Outcome (outcome/outcome.h).
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/check.h"

namespace gemmsmith {

enum class StatusCode {
  kOk,
  kInvalidArgument,  // wrong use: the caller can mend the words
  kNotFound,         // a named thing does not exist
  kUnavailable,      // this machine or this record lacks something
  kIoError,          // the disk, a pipe or a child process failed
  kDataLoss,         // a file or a message is damaged
  kInterrupted,      // the user asked to stop
};

class [[nodiscard]] Status {
 public:
  Status() = default;
  Status(StatusCode code, std::string message) : code_(code), message_(std::move(message)) {}

  bool ok() const { return code_ == StatusCode::kOk; }
  StatusCode code() const { return code_; }
  // One line: the error and, if there is one, the remedy.
  const std::string& message() const { return message_; }

 private:
  StatusCode code_ = StatusCode::kOk;
  std::string message_;
};

inline Status OkStatus() { return {}; }
inline Status InvalidArgument(std::string message) { return {StatusCode::kInvalidArgument, std::move(message)}; }
inline Status NotFound(std::string message) { return {StatusCode::kNotFound, std::move(message)}; }
inline Status Unavailable(std::string message) { return {StatusCode::kUnavailable, std::move(message)}; }
inline Status IoError(std::string message) { return {StatusCode::kIoError, std::move(message)}; }
inline Status DataLoss(std::string message) { return {StatusCode::kDataLoss, std::move(message)}; }
inline Status Interrupted(std::string message) { return {StatusCode::kInterrupted, std::move(message)}; }

// The same failure, with the place where it was found in front.
inline Status WithContext(const Status& status, std::string_view context) {
  return {status.code(), std::string(context) + ": " + status.message()};
}

// A value or the Status that explains its absence.
template <class T>
class [[nodiscard]] Result {
 public:
  Result(T value)
      : value_(std::move(value)) {}  // NOLINT(google-explicit-constructor): return value; must read naturally
  Result(Status status) : status_(std::move(status)) {  // NOLINT(google-explicit-constructor)
    GEMMSMITH_CHECK(!status_.ok(), "a Result without a value needs a reason");
  }

  bool ok() const { return value_.has_value(); }
  const Status& status() const { return status_; }

  T& value() & { return Checked(), *value_; }
  const T& value() const& { return Checked(), *value_; }
  T&& value() && { return Checked(), *std::move(value_); }
  T& operator*() & { return value(); }
  const T& operator*() const& { return value(); }
  T&& operator*() && { return std::move(*this).value(); }
  T* operator->() { return &value(); }
  const T* operator->() const { return &value(); }

 private:
  void Checked() const { GEMMSMITH_CHECK(value_.has_value(), "value() of a failed Result: {}", status_.message()); }

  std::optional<T> value_;
  Status status_;
};

}  // namespace gemmsmith

#define GEMMSMITH_CONCAT_INNER(a, b) a##b
#define GEMMSMITH_CONCAT(a, b) GEMMSMITH_CONCAT_INNER(a, b)

#define RETURN_IF_ERROR(expression)                                                \
  do {                                                                             \
    if (::gemmsmith::Status status_ = (expression); !status_.ok()) return status_; \
  } while (0)

#define ASSIGN_OR_RETURN(declaration, expression) \
  ASSIGN_OR_RETURN_INNER(GEMMSMITH_CONCAT(result_, __LINE__), declaration, expression)
#define ASSIGN_OR_RETURN_INNER(result, declaration, expression) \
  auto result = (expression);                                   \
  if (!result.ok()) return result.status();                     \
  declaration = *std::move(result)
