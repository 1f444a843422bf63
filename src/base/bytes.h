// Little-endian binary writing and bounds-checked reading, for the worker protocol and the record segments.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "base/status.h"

namespace gemmsmith {

class ByteWriter {
 public:
  template <class T>
  requires std::is_arithmetic_v<T> || std::is_enum_v<T>
  void Put(T value) { bytes_.append(reinterpret_cast<const char*>(&value), sizeof value); }
  void PutString(std::string_view text) {
    Put(uint32_t(text.size()));
    bytes_.append(text);
  }
  template <class T>
  void PutVector(const std::vector<T>& items) {
    Put(uint32_t(items.size()));
    bytes_.append(reinterpret_cast<const char*>(items.data()), items.size() * sizeof(T));
  }
  std::string Take() && { return std::move(bytes_); }
  size_t size() const { return bytes_.size(); }

 private:
  std::string bytes_;
};

// Reads never run past the end: the first read that would sets failed(), and every later one yields zero values.
class ByteReader {
 public:
  explicit ByteReader(std::string_view bytes) : rest_(bytes) {}
  template <class T>
  requires std::is_arithmetic_v<T> || std::is_enum_v<T> T Get() {
    T value{};
    if (std::string_view taken = Take(sizeof value); !failed_) std::memcpy(&value, taken.data(), sizeof value);
    return value;
  }
  std::string GetString() { return std::string(Take(Get<uint32_t>())); }
  template <class T>
  requires std::is_arithmetic_v<T> std::vector<T> GetVector() {
    const size_t count = Get<uint32_t>();
    std::string_view taken = Take(count * sizeof(T));
    std::vector<T> items(taken.size() / sizeof(T));
    if (!items.empty()) std::memcpy(items.data(), taken.data(), items.size() * sizeof(T));
    return items;
  }
  std::string_view Take(size_t count) {
    if (failed_ || count > rest_.size()) {
      failed_ = true;
      return {};
    }
    std::string_view taken = rest_.substr(0, count);
    rest_.remove_prefix(count);
    return taken;
  }
  bool failed() const { return failed_; }
  size_t remaining() const { return rest_.size(); }

 private:
  std::string_view rest_;
  bool failed_ = false;
};

}  // namespace gemmsmith
