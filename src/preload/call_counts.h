// How often each product was called since the file was last written. A lock a call: it is there only where a record is
// asked for.
#pragma once

#include <filesystem>
#include <mutex>
#include <unordered_map>

#include "preload/call.h"

namespace gemmsmith {

class CallCounts {
 public:
  // "%p" in the path becomes the number of the process that writes.
  explicit CallCounts(std::string path) : path_(std::move(path)) {}

  // Also writes at the 1024th call, the 2048th, and so on: a process that ends without exit() loses half at most.
  void Count(const Call& call);
  // Adds what was counted to the file. A failure is one line of standard error, and what was counted is dropped.
  void Write();

  // Around fork(): a child counts its own calls.
  void BeforeFork() { mutex_.lock(); }
  void AfterForkInParent() { mutex_.unlock(); }
  void AfterForkInChild();

 private:
  // The bytes of a request, with what a record tells besides.
  struct Key {
    Request request;
    uint32_t has_f16_sums = 0, has_settings = 0, other_epilogue = 0, unused = 0;
    explicit Key(const Call& call);
    bool operator==(const Key&) const = default;
  };
  struct HashOfKey {
    size_t operator()(const Key& key) const;
  };
  struct Counted {
    std::string text;
    int64_t calls = 0;
  };
  const std::string path_;
  std::mutex mutex_;
  std::unordered_map<Key, Counted, HashOfKey> counts_;
  int64_t calls_ = 0;
};

}  // namespace gemmsmith
