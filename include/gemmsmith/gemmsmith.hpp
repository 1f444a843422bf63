// gemmsmith.h for C++17: objects that release what they hold, and results. Only Result::value() throws.
// docs/library_reference.md explains each function.
#ifndef GEMMSMITH_GEMMSMITH_HPP
#define GEMMSMITH_GEMMSMITH_HPP

#include <gemmsmith/gemmsmith.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>

namespace gemmsmith {

// What Result::value() throws; what() is the reason in one line.
class Error : public std::runtime_error {
 public:
  Error(gemmsmith_status status, const std::string& reason) : std::runtime_error(reason), status_(status) {}
  gemmsmith_status status() const noexcept { return status_; }

 private:
  gemmsmith_status status_;
};

namespace detail {

class Outcome {
 public:
  // For the call that this thread made last.
  explicit Outcome(gemmsmith_status status) : status_(status) {
    if (!ok()) reason_ = gemmsmith_last_error();
  }
  bool ok() const noexcept { return status_ == GEMMSMITH_OK; }
  explicit operator bool() const noexcept { return ok(); }
  gemmsmith_status status() const noexcept { return status_; }
  const std::string& reason() const noexcept { return reason_; }  // empty where it is ok

 protected:
  // Throws where it is not ok; ends the program in a build without exceptions.
  void require() const {
    if (ok()) return;
#ifdef __cpp_exceptions
    throw Error(status_, reason_);
#else
    std::abort();
#endif
  }

 private:
  gemmsmith_status status_;
  std::string reason_;
};

struct Release {
  void operator()(gemmsmith_context* context) const noexcept { gemmsmith_context_destroy(context); }
  void operator()(gemmsmith_product* product) const noexcept { gemmsmith_release(product); }
};

}  // namespace detail

// A value, or a status with its reason.
template <class T>
class [[nodiscard]] Result : public detail::Outcome {
 public:
  explicit Result(gemmsmith_status failure) : Outcome(failure) {}
  explicit Result(T value) : Outcome(GEMMSMITH_OK), value_(std::move(value)) {}
  T& value() & { return require(), *value_; }
  const T& value() const& { return require(), *value_; }
  T value() && { return require(), *std::move(value_); }

 private:
  std::optional<T> value_;
};

template <>
class [[nodiscard]] Result<void> : public detail::Outcome {
 public:
  explicit Result(gemmsmith_status status) : Outcome(status) {}
  void value() const { require(); }
};

// d[m,n] = a[m,k] b[k,n] with the defaults of gemmsmith_problem_default(); its fields are the C struct's.
struct Problem : gemmsmith_problem {
  Problem(std::int64_t rows, std::int64_t columns, std::int64_t depth) : gemmsmith_problem() {
    gemmsmith_problem_default(this);
    m = rows, n = columns, k = depth;
  }
};

struct Operands : gemmsmith_operands {
  Operands(const void* first, const void* second, void* result) : gemmsmith_operands() {
    gemmsmith_operands_default(this);
    a = first, b = second, d = result;
  }
};

// A problem with its kernel, chosen and loaded. Any number of threads may run it at once.
class Product {
 public:
  explicit Product(gemmsmith_product* owned) : handle_(owned) {}

  Result<void> run(const gemmsmith_operands& operands, void* stream = nullptr) const {
    return Result<void>(gemmsmith_run(handle_.get(), &operands, stream));
  }
  Result<std::string> explain() const {
    std::size_t bytes = 0;
    gemmsmith_status status = gemmsmith_explain(handle_.get(), nullptr, &bytes);
    if (status != GEMMSMITH_OK) return Result<std::string>(status);
    std::string text(bytes, '\0');
    status = gemmsmith_explain(handle_.get(), &text[0], &bytes);
    if (status != GEMMSMITH_OK) return Result<std::string>(status);
    text.pop_back();
    return Result<std::string>(std::move(text));
  }
  const gemmsmith_product* get() const noexcept { return handle_.get(); }

 private:
  std::unique_ptr<gemmsmith_product, detail::Release> handle_;
};

// Kernels and choices; one a process is enough.
class Context {
 public:
  explicit Context(gemmsmith_context* owned) : handle_(owned) {}

  // `overlay` is a file of kernels that go before the shipped ones.
  static Result<Context> create(const char* overlay = nullptr) {
    gemmsmith_context* made = nullptr;
    const gemmsmith_status status = gemmsmith_context_create(&made, overlay);
    return status == GEMMSMITH_OK ? Result<Context>(Context(made)) : Result<Context>(status);
  }
  Result<Product> prepare(const gemmsmith_problem& problem, int device = 0) const {
    gemmsmith_product* made = nullptr;
    const gemmsmith_status status = gemmsmith_prepare(handle_.get(), &problem, device, &made);
    return status == GEMMSMITH_OK ? Result<Product>(Product(made)) : Result<Product>(status);
  }
  // On the current device. The first call of a problem prepares it.
  Result<void> multiply(const gemmsmith_problem& problem, const gemmsmith_operands& operands,
                        void* stream = nullptr) const {
    return Result<void>(gemmsmith_multiply(handle_.get(), &problem, &operands, stream));
  }
  gemmsmith_context* get() const noexcept { return handle_.get(); }

 private:
  std::unique_ptr<gemmsmith_context, detail::Release> handle_;
};

}  // namespace gemmsmith

#endif
