#include <condition_variable>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <optional>

#include "base/bytes.h"
#include "base/hash.h"
#include "compile/compiler.h"

namespace gemmsmith {

namespace {

Hash128 KeyOf(const Source& source, std::string_view architecture) {
  ByteWriter text;
  text.PutString(source.text);
  text.PutString(source.entry);
  text.PutString(architecture);
  return HashBytes(std::move(text).Take());
}

size_t BytesOf(const Compilation& compilation) {
  return sizeof compilation + compilation.log.size() + compilation.binary.cubin.size();
}

class RememberingCompiler : public Compiler {
 public:
  RememberingCompiler(std::unique_ptr<Compiler> compiler, size_t max_bytes)
      : compiler_(std::move(compiler)), max_bytes_(max_bytes) {}

  Result<Compilation> Compile(const Source& source, std::string_view architecture) override {
    const Hash128 key = KeyOf(source, architecture);
    std::unique_lock lock(mutex_);
    if (const auto known = entries_.find(key); known != entries_.end()) {
      const std::shared_ptr<RememberedText> entry = known->second;
      finished_.wait(lock, [&] { return entry->result.has_value(); });
      return Again(*entry);
    }
    const auto entry = std::make_shared<RememberedText>();
    entries_.emplace(key, entry);
    lock.unlock();
    Result<Compilation> result = compiler_->Compile(source, architecture);
    lock.lock();
    entry->result = result;
    if (result.ok())
      Keep(key, *entry);
    else
      entries_.erase(key);
    finished_.notify_all();
    return result;
  }

  std::string Identity() const override { return compiler_->Identity(); }

 private:
  struct RememberedText {
    std::optional<Result<Compilation>> result;          // nothing: under way
    std::optional<std::list<Hash128>::iterator> place;  // in recent_; nothing: not kept
  };

  // With the lock held, as all below.
  Result<Compilation> Again(RememberedText& entry) {
    if (entry.place) recent_.splice(recent_.begin(), recent_, *entry.place);
    Result<Compilation> result = *entry.result;
    if (result.ok()) {
      result->seconds = 0;
      result->from_cache = true;
    }
    return result;
  }

  void Keep(const Hash128& key, RememberedText& entry) {
    entry.place = recent_.insert(recent_.begin(), key);
    bytes_ += BytesOf(**entry.result);
    while (bytes_ > max_bytes_) {
      const auto oldest = entries_.find(recent_.back());
      bytes_ -= BytesOf(**oldest->second->result);
      oldest->second->place.reset();
      entries_.erase(oldest);
      recent_.pop_back();
    }
  }

  const std::unique_ptr<Compiler> compiler_;
  const size_t max_bytes_;
  std::mutex mutex_;
  std::condition_variable finished_;
  std::map<Hash128, std::shared_ptr<RememberedText>> entries_;
  std::list<Hash128> recent_;  // what is kept, the one asked for last in front
  size_t bytes_ = 0;
};

}  // namespace

std::unique_ptr<Compiler> MakeRememberingCompiler(std::unique_ptr<Compiler> compiler, size_t max_bytes) {
  return std::make_unique<RememberingCompiler>(std::move(compiler), max_bytes);
}

}  // namespace gemmsmith
