// The lines of MCP over two descriptors.
#include <unistd.h>

#include <cerrno>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

#include "agents/mcp.h"
#include "base/descriptors.h"

namespace gemmsmith {
namespace {

// Answers messages on threads of their own.
class LineAnswerer {
 public:
  LineAnswerer(const McpServer& server, int out, const McpLimits& limits)
      : server_(server), out_(out), limits_(limits) {}
  ~LineAnswerer() { Finish(); }

  void Take(std::string_view line) {
    RpcMessage message = ParseRpc(line);
    if (!message.Calls("tools/call")) return Answer(message);
    {
      const std::lock_guard lock(mutex_);
      if (waiting_.size() < limits_.waiting) {
        waiting_.push_back(std::move(message));
        if (idle_ < waiting_.size() && threads_.size() < limits_.threads) threads_.emplace_back([this] { Work(); });
        return added_.notify_one();
      }
    }
    Write(RefuseRpc(message, {kRpcBusy, "too many calls are waiting: ask again later"}));
  }

  void RefuseLongLine() {
    Write(RefuseRpc({.entries = {{nullptr, RpcError{kRpcParseError, "the line is too long"}}}}, {}));
  }

  // Waits until everything is answered.
  void Finish() {
    {
      const std::lock_guard lock(mutex_);
      closing_ = true;
    }
    added_.notify_all();
    for (std::thread& thread : threads_) thread.join();
    threads_.clear();
  }

  bool has_failed() const {
    const std::lock_guard lock(write_mutex_);
    return has_failed_;
  }

 private:
  void Answer(const RpcMessage& message) {
    Write(AnswerRpc(message, [this](const std::string& method, const nlohmann::ordered_json& params) {
      return server_.Handle(method, params);
    }));
  }

  void Write(const std::optional<std::string>& line) {
    if (!line) return;
    const std::lock_guard lock(write_mutex_);
    if (!has_failed_) has_failed_ = !WriteAll(out_, *line + "\n");
  }

  void Work() {
    std::unique_lock lock(mutex_);
    while (true) {
      ++idle_;
      added_.wait(lock, [&] { return closing_ || !waiting_.empty(); });
      --idle_;
      if (waiting_.empty()) return;
      const RpcMessage message = std::move(waiting_.front());
      waiting_.pop_front();
      lock.unlock();
      Answer(message);
      lock.lock();
    }
  }

  const McpServer& server_;
  const int out_;
  const McpLimits limits_;

  std::mutex mutex_;
  std::condition_variable added_;
  std::deque<RpcMessage> waiting_;
  size_t idle_ = 0;
  bool closing_ = false;
  std::vector<std::thread> threads_;

  mutable std::mutex write_mutex_;
  bool has_failed_ = false;
};

// Cuts what is read into lines. The rest of a line that became too long is dropped.
class LineCutter {
 public:
  LineCutter(LineAnswerer& answerer, size_t most_bytes) : answerer_(answerer), most_bytes_(most_bytes) {}

  void Add(std::string_view bytes) {
    for (size_t end = bytes.find('\n'); end != std::string_view::npos; end = bytes.find('\n')) {
      Extend(bytes.substr(0, end));
      End();
      bytes.remove_prefix(end + 1);
    }
    Extend(bytes);
  }

  void End() {
    if (is_too_long_)
      answerer_.RefuseLongLine();
    else if (line_.find_first_not_of(" \t\r") != std::string::npos)
      answerer_.Take(line_);
    line_.clear();
    is_too_long_ = false;
  }

 private:
  void Extend(std::string_view part) {
    is_too_long_ = is_too_long_ || line_.size() + part.size() > most_bytes_;
    if (is_too_long_)
      line_.clear();
    else
      line_ += part;
  }

  LineAnswerer& answerer_;
  const size_t most_bytes_;
  std::string line_;
  bool is_too_long_ = false;
};

}  // namespace

Status ServeMcp(const McpServer& server, int in, int out, const McpLimits& limits) {
  LineAnswerer answerer(server, out, limits);
  LineCutter cutter(answerer, limits.line_bytes);
  char buffer[65536];
  while (!answerer.has_failed()) {
    const ssize_t count = read(in, buffer, sizeof buffer);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return IoError("reading messages: " + std::generic_category().message(errno));
    if (count == 0) break;
    cutter.Add({buffer, size_t(count)});
  }
  cutter.End();
  answerer.Finish();
  return answerer.has_failed() ? IoError("the client closed its end of the pipe") : OkStatus();
}

}  // namespace gemmsmith
