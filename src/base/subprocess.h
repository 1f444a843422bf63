// Child processes: run to the end with a time limit, or kept alive behind a pair of pipes.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"

namespace gemmsmith {

struct ProcessResult {
  int exit_code = 0;  // 128 + signal where a signal ended it
  bool timed_out = false;
  std::string output;  // stdout and stderr together, at most 1 MiB (the end is kept)
};

// Runs a program (looked up on PATH) with no standard input; kills its whole process group at the limit.
Result<ProcessResult> RunProcess(const std::vector<std::string>& command, std::chrono::milliseconds limit);

// A child that talks over two pipes. Its stderr is kept (the last 64 KiB) to explain a crash.
class PipedProcess {
 public:
  // `inherited`: descriptors that the child finds open under the same numbers, whether or not they close on exec here.
  static Result<PipedProcess> Start(const std::vector<std::string>& command, std::span<const int> inherited = {});
  PipedProcess(PipedProcess&& other) noexcept;
  PipedProcess& operator=(PipedProcess&& other) noexcept;
  ~PipedProcess();  // kills and reaps

  pid_t pid() const { return pid_; }
  // Whole buffers or an error: IoError when the child is gone, Unavailable ("timed out") when the deadline passed.
  Status Write(std::string_view bytes, std::chrono::steady_clock::time_point deadline);
  Status ReadExactly(size_t count, std::string& bytes, std::chrono::steady_clock::time_point deadline);
  // Whether something that nobody has read yet stands in the pipe from the child.
  bool HasOutput() const;
  // Ends the child (SIGKILL to its process group) if it still lives and returns how it ended: its exit code, or 128 +
  // signal.
  int KillAndReap();
  // The same after it had so long to end by itself.
  int Reap(std::chrono::milliseconds grace);
  std::string StderrTail();

 private:
  PipedProcess() = default;
  // Until the descriptor is ready, keeping stderr empty, so that a chatty child never blocks.
  Status WaitFor(int fd, short event, std::chrono::steady_clock::time_point deadline);
  void DrainStderr();

  pid_t pid_ = -1;
  int to_child_ = -1, from_child_ = -1, stderr_ = -1;
  std::string stderr_tail_;
};

// The child's side. Keeps the pipe to the parent apart from everything a library may print: from here on, file
// descriptor 1 is standard error. Returns the descriptor of the pipe.
Result<int> SeparateStandardOutput();

}  // namespace gemmsmith
