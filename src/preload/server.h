// Calls that are taken from cuBLAS: counted, and served where a kernel of ours is expected to be faster.
#pragma once

#include <array>
#include <atomic>
#include <memory>
#include <mutex>
#include <set>

#include "preload/call.h"
#include "preload/call_counts.h"
#include "preload/settings.h"
#include "runtime/context.h"

namespace gemmsmith {

class Server {
 public:
  // It lives to the very end of the process.
  static Server& Get();

  // True: done, by a kernel of ours. False: the caller's own library must do it.
  bool Serve(const Call& call) noexcept;
  // Record and summary, at the end of the process.
  void End() noexcept;

 private:
  enum Answer : uint8_t { kServed, kOtherProblem, kLibraryIsFaster, kCaptured, kFailed, kAnswers };
  Server();
  Answer AnswerTo(const Call& call);
  Context* TheContext();
  void WriteAll();
  void SayOnce(const Product& product);
  void GiveUp(const std::string& reason);
  void AfterForkInChild();

  const PreloadSettings& settings_;
  const std::unique_ptr<CallCounts> counts_;  // null: no record is asked for
  std::mutex mutex_;
  std::unique_ptr<Context> context_;
  std::atomic<Context*> published_ = nullptr;
  std::set<const Product*> said_;
  std::atomic<bool> gave_up_ = false;
  std::array<std::atomic<int64_t>, kAnswers> answers_{};
};

}  // namespace gemmsmith
