#include "preload/server.h"

#include <fmt/format.h>
#include <pthread.h>

#include <cstdlib>
#include <exception>

namespace gemmsmith {

Server& Server::Get() {
  static Server* const server = new Server;
  return *server;
}

Server::Server()
    : settings_(PreloadSettings::Get()),
      counts_(settings_.record.empty() ? nullptr : std::make_unique<CallCounts>(settings_.record)) {
  // Statics of the choice of kernels go while the process ends.
  std::atexit([] { Get().gave_up_ = true; });
  pthread_atfork(
      [] {
        if (Get().counts_) Get().counts_->BeforeFork();
      },
      [] {
        if (Get().counts_) Get().counts_->AfterForkInParent();
      },
      [] { Get().AfterForkInChild(); });
}

void Server::AfterForkInChild() {
  for (auto& count : answers_) count = 0;
  if (counts_) counts_->AfterForkInChild();
}

bool Server::Serve(const Call& call) noexcept {
  Answer answer = kFailed;
  try {
    if (counts_) counts_->Count(call);
    answer = AnswerTo(call);
  } catch (const std::exception& exception) {
    GiveUp(exception.what());
  }
  answers_[answer].fetch_add(1, std::memory_order_relaxed);
  return answer == kServed;
}

Server::Answer Server::AnswerTo(const Call& call) {
  if (gave_up_.load(std::memory_order_relaxed)) return kFailed;
  if (settings_.mode != PreloadMode::kServe || !call.IsPlain()) return kOtherProblem;
  Context* const context = TheContext();
  if (context == nullptr) return kFailed;
  const Product* product = nullptr;
  if (const Failure failure = context->Find(call.request, call.stream, product); !failure.ok()) {
    GiveUp(failure.reason);
    return kFailed;
  }
  if (product == nullptr) return kCaptured;
  if (settings_.log == PreloadLog::kChoices) SayOnce(*product);
  if (!product->IsOurs()) return kLibraryIsFaster;
  const Failure ran = product->Run(call.operands, call.stream);
  return ran.ok() ? kServed : ran.status == GEMMSMITH_NOT_SUPPORTED ? kOtherProblem : kFailed;
}

Context* Server::TheContext() {
  if (Context* const context = published_.load(std::memory_order_acquire)) return context;
  const std::lock_guard lock(mutex_);
  if (context_ == nullptr) {
    if (const Failure failure = Context::Make("", context_); !failure.ok()) {
      GiveUp(failure.reason);
      return nullptr;
    }
    published_.store(context_.get(), std::memory_order_release);
  }
  return context_.get();
}

void Server::SayOnce(const Product& product) {
  const std::lock_guard lock(mutex_);
  if (said_.insert(&product).second) SayOnStderr(product.explanation());
}

void Server::GiveUp(const std::string& reason) {
  if (gave_up_.exchange(true) || settings_.log == PreloadLog::kOff) return;
  SayOnStderr("all products go to cuBLAS from here on: " + reason);
}

void Server::End() noexcept {
  try {
    WriteAll();
  } catch (const std::exception& exception) {
    SayOnStderr(exception.what());
  }
}

void Server::WriteAll() {
  if (counts_) counts_->Write();
  int64_t all = 0;
  for (const auto& count : answers_) all += count;
  if (settings_.log == PreloadLog::kOff || all == 0) return;
  if (settings_.mode == PreloadMode::kRecordOnly)
    return SayOnStderr(fmt::format("{} half-precision products, all by cuBLAS", all));
  SayOnStderr(
      fmt::format("{} of {} half-precision products by kernels of ours; by cuBLAS: {} of a kind that ours do not "
                  "compute, {} where ours are not expected to be faster, {} captured before their first call, {} after "
                  "an error",
                  answers_[kServed].load(), all, answers_[kOtherProblem].load(), answers_[kLibraryIsFaster].load(),
                  answers_[kCaptured].load(), answers_[kFailed].load()));
}

}  // namespace gemmsmith
