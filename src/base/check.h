// GEMMSMITH_CHECK(condition, format, values...): our own bug. Prints the place and the values, then aborts.
#pragma once

#include <fmt/format.h>

#include <string_view>

namespace gemmsmith {

[[noreturn]] void CheckFailed(const char* file, int line, const char* condition, std::string_view message);

}  // namespace gemmsmith

#define GEMMSMITH_CHECK(condition, ...)                                                        \
  do {                                                                                         \
    if (!(condition)) [[unlikely]]                                                             \
      ::gemmsmith::CheckFailed(__FILE__, __LINE__, #condition, ::fmt::format("" __VA_ARGS__)); \
  } while (0)
