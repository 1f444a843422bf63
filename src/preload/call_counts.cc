#include "preload/call_counts.h"

#include <unistd.h>

#include "base/hash.h"
#include "preload/settings.h"
#include "problem/product_record.h"

namespace gemmsmith {

namespace {

constexpr int64_t kFirstWrite = 1024;

std::filesystem::path OfThisProcess(std::string path) {
  const size_t place = path.find("%p");
  if (place != std::string::npos) path.replace(place, 2, std::to_string(getpid()));
  return path;
}

}  // namespace

CallCounts::Key::Key(const Call& call)
    : request(call.request),
      has_f16_sums(call.has_f16_sums),
      has_settings(call.has_settings),
      other_epilogue(call.other_epilogue) {
  request.device = 0;
}

size_t CallCounts::HashOfKey::operator()(const Key& key) const {
  return size_t(HashBytes(std::string_view(reinterpret_cast<const char*>(&key), sizeof key)).low);
}

void CallCounts::Count(const Call& call) {
  int64_t calls = 0;
  {
    const std::lock_guard lock(mutex_);
    Counted& counted = counts_[Key(call)];
    if (counted.text.empty()) counted.text = call.Print();
    ++counted.calls;
    calls = ++calls_;
  }
  if (calls >= kFirstWrite && (calls & (calls - 1)) == 0) Write();
}

void CallCounts::Write() {
  ProductRecord record;
  {
    const std::lock_guard lock(mutex_);
    for (auto& [key, counted] : counts_)
      if (const int64_t calls = std::exchange(counted.calls, 0); calls > 0 && !counted.text.empty())
        record.Add(counted.text, calls);
  }
  if (record.empty()) return;
  if (const Status written = AddToProductRecord(OfThisProcess(path_), record); !written.ok())
    SayOnStderr("the record of calls is not written: " + written.message());
}

void CallCounts::AfterForkInChild() {
  for (auto& [key, counted] : counts_) counted.calls = 0;
  mutex_.unlock();
}

}  // namespace gemmsmith
