#include "base/subprocess.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>
#include <thread>
#include <utility>

extern char** environ;

namespace gemmsmith {
namespace {

using Clock = std::chrono::steady_clock;

constexpr size_t kOutputKept = 1 << 20;
constexpr size_t kStderrKept = 64 << 10;

std::string ErrorText(int error) { return std::generic_category().message(error); }

class Descriptor {
 public:
  explicit Descriptor(int fd = -1) : fd_(fd) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() { Close(); }
  int get() const { return fd_; }
  int Release() { return std::exchange(fd_, -1); }
  void Close() {
    if (fd_ >= 0) ::close(std::exchange(fd_, -1));
  }

 private:
  friend Status OpenPipe(Descriptor& read_end, Descriptor& write_end);
  int fd_;
};

Status OpenPipe(Descriptor& read_end, Descriptor& write_end) {
  int fds[2];
  if (::pipe2(fds, O_CLOEXEC) != 0) return IoError(fmt::format("cannot open a pipe: {}", ErrorText(errno)));
  read_end.fd_ = fds[0], write_end.fd_ = fds[1];
  return OkStatus();
}

void SetNonBlocking(int fd) { ::fcntl(fd, F_SETFL, ::fcntl(fd, F_GETFL) | O_NONBLOCK); }

// In a process group of its own, with default signal handling and none blocked.
Result<pid_t> Spawn(const std::vector<std::string>& command, int in, int out, int err,
                    std::span<const int> inherited = {}) {
  GEMMSMITH_CHECK(!command.empty(), "a command without a program");
  std::vector<char*> arguments;
  for (const std::string& word : command) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);

  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
  posix_spawn_file_actions_init(&actions);
  posix_spawnattr_init(&attributes);
  posix_spawn_file_actions_adddup2(&actions, in, 0);
  posix_spawn_file_actions_adddup2(&actions, out, 1);
  posix_spawn_file_actions_adddup2(&actions, err, 2);
  // A descriptor duplicated onto itself stays open in the child.
  for (int fd : inherited) posix_spawn_file_actions_adddup2(&actions, fd, fd);
  sigset_t none, all;
  sigemptyset(&none), sigfillset(&all);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setsigdefault(&attributes, &all);
  posix_spawnattr_setpgroup(&attributes, 0);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);

  pid_t pid = -1;
  const int error = ::posix_spawnp(&pid, arguments[0], &actions, &attributes, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  posix_spawnattr_destroy(&attributes);
  if (error == 0) return pid;
  std::string message = fmt::format("cannot start {}: {}", command[0], ErrorText(error));
  return error == ENOENT || error == EACCES ? Unavailable(std::move(message)) : IoError(std::move(message));
}

int Reap(pid_t pid) {
  int status = 0;
  while (::waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

// Without reaping it, so that its pid (and its group's) still cannot be anybody else's.
bool HasEnded(pid_t pid) {
  siginfo_t info{};
  return ::waitid(P_PID, id_t(pid), &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_pid == pid;
}

enum class Drained { kOpen, kClosed };

// Takes what a non-blocking pipe holds; keeps the last `kept` bytes.
Drained Drain(int fd, std::string& text, size_t kept) {
  char buffer[1 << 16];
  while (true) {
    const ssize_t count = ::read(fd, buffer, sizeof buffer);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0 && errno == EAGAIN) return Drained::kOpen;
    if (count <= 0) return Drained::kClosed;
    text.append(buffer, size_t(count));
    if (text.size() > 2 * kept) text.erase(0, text.size() - kept);
  }
}

// poll() until the deadline, at most `longest` at a time.
int PollUntil(pollfd* fds, nfds_t count, Clock::time_point deadline, std::chrono::milliseconds longest) {
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now());
  return ::poll(fds, count, int(std::clamp(left, std::chrono::milliseconds(0), longest).count()));
}

// A write to a child that is gone must be an error of ours, not a signal to the whole program, whose own handling of
// SIGPIPE (and that of its other threads) stays as it is.
ssize_t WriteWithoutSigpipe(int fd, std::string_view bytes) {
  sigset_t pipe_signal, pending, before;
  sigemptyset(&pipe_signal);
  sigaddset(&pipe_signal, SIGPIPE);
  sigpending(&pending);
  pthread_sigmask(SIG_BLOCK, &pipe_signal, &before);
  const ssize_t written = ::write(fd, bytes.data(), bytes.size());
  const int error = errno;
  if (written < 0 && error == EPIPE && !sigismember(&pending, SIGPIPE)) {
    const timespec at_once{};
    while (sigtimedwait(&pipe_signal, nullptr, &at_once) < 0 && errno == EINTR) {
    }
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  errno = error;
  return written;
}

}  // namespace

Result<ProcessResult> RunProcess(const std::vector<std::string>& command, std::chrono::milliseconds limit) {
  Descriptor nothing(::open("/dev/null", O_RDONLY | O_CLOEXEC)), from_child, to_us;
  if (nothing.get() < 0) return IoError(fmt::format("cannot open /dev/null: {}", ErrorText(errno)));
  RETURN_IF_ERROR(OpenPipe(from_child, to_us));
  const Clock::time_point deadline = Clock::now() + limit;
  ASSIGN_OR_RETURN(const pid_t pid, Spawn(command, nothing.get(), to_us.get(), to_us.get()));
  to_us.Close();
  SetNonBlocking(from_child.get());

  // A grandchild may keep the pipe open, and a child may close it and go on: only the child's end ends this.
  ProcessResult result;
  Drained pipe = Drained::kOpen;
  while (!HasEnded(pid)) {
    if (Clock::now() >= deadline) {
      result.timed_out = true;
      ::kill(-pid, SIGKILL);
      break;
    }
    pollfd readable = {pipe == Drained::kOpen ? from_child.get() : -1, POLLIN, 0};
    const auto longest = std::chrono::milliseconds(pipe == Drained::kOpen ? 20 : 1);
    if (PollUntil(&readable, 1, deadline, longest) > 0) pipe = Drain(from_child.get(), result.output, kOutputKept);
  }
  result.exit_code = Reap(pid);
  if (pipe == Drained::kOpen) Drain(from_child.get(), result.output, kOutputKept);
  if (result.output.size() > kOutputKept) result.output.erase(0, result.output.size() - kOutputKept);
  return result;
}

Result<PipedProcess> PipedProcess::Start(const std::vector<std::string>& command, std::span<const int> inherited) {
  Descriptor child_in, to_child, from_child, child_out, from_stderr, child_err;
  RETURN_IF_ERROR(OpenPipe(child_in, to_child));
  RETURN_IF_ERROR(OpenPipe(from_child, child_out));
  RETURN_IF_ERROR(OpenPipe(from_stderr, child_err));
  ASSIGN_OR_RETURN(const pid_t pid, Spawn(command, child_in.get(), child_out.get(), child_err.get(), inherited));
  PipedProcess process;
  process.pid_ = pid;
  process.to_child_ = to_child.Release();
  process.from_child_ = from_child.Release();
  process.stderr_ = from_stderr.Release();
  for (int fd : {process.to_child_, process.from_child_, process.stderr_}) SetNonBlocking(fd);
  return process;
}

PipedProcess::PipedProcess(PipedProcess&& other) noexcept { *this = std::move(other); }

PipedProcess& PipedProcess::operator=(PipedProcess&& other) noexcept {
  std::swap(pid_, other.pid_);
  std::swap(to_child_, other.to_child_);
  std::swap(from_child_, other.from_child_);
  std::swap(stderr_, other.stderr_);
  std::swap(stderr_tail_, other.stderr_tail_);
  return *this;
}

PipedProcess::~PipedProcess() {
  if (pid_ > 0) KillAndReap();
  if (stderr_ >= 0) ::close(stderr_);
}

Status PipedProcess::WaitFor(int fd, short event, Clock::time_point deadline) {
  while (true) {
    pollfd fds[2] = {{fd, event, 0}, {stderr_, POLLIN, 0}};
    const int ready = PollUntil(fds, 2, deadline, std::chrono::hours(1));
    if (ready < 0 && errno != EINTR) return IoError(fmt::format("cannot poll: {}", ErrorText(errno)));
    if (ready > 0 && fds[1].revents != 0) DrainStderr();
    if (ready > 0 && fds[0].revents != 0) return OkStatus();
    if (Clock::now() >= deadline) return Unavailable(fmt::format("process {} timed out", pid_));
  }
}

Status PipedProcess::Write(std::string_view bytes, Clock::time_point deadline) {
  GEMMSMITH_CHECK(pid_ > 0, "no process to write to");
  while (!bytes.empty()) {
    RETURN_IF_ERROR(WaitFor(to_child_, POLLOUT, deadline));
    const ssize_t written = WriteWithoutSigpipe(to_child_, bytes);
    if (written > 0) bytes.remove_prefix(size_t(written));
    if (written < 0 && errno != EAGAIN && errno != EINTR)
      return IoError(fmt::format("process {} is gone: {}", pid_, ErrorText(errno)));
  }
  return OkStatus();
}

Status PipedProcess::ReadExactly(size_t count, std::string& bytes, Clock::time_point deadline) {
  GEMMSMITH_CHECK(pid_ > 0, "no process to read from");
  bytes.clear();
  char buffer[1 << 16];
  while (bytes.size() < count) {
    RETURN_IF_ERROR(WaitFor(from_child_, POLLIN, deadline));
    const ssize_t got = ::read(from_child_, buffer, std::min(sizeof buffer, count - bytes.size()));
    if (got > 0) bytes.append(buffer, size_t(got));
    if (got == 0) return IoError(fmt::format("process {} is gone: it closed its output", pid_));
    if (got < 0 && errno != EAGAIN && errno != EINTR)
      return IoError(fmt::format("cannot read from process {}: {}", pid_, ErrorText(errno)));
  }
  return OkStatus();
}

bool PipedProcess::HasOutput() const {
  pollfd output{from_child_, POLLIN, 0};
  return ::poll(&output, 1, 0) == 1 && (output.revents & POLLIN) != 0;
}

int PipedProcess::Reap(std::chrono::milliseconds grace) {
  GEMMSMITH_CHECK(pid_ > 0, "no process to end");
  for (const auto end = Clock::now() + grace; !HasEnded(pid_) && Clock::now() < end;)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  return KillAndReap();
}

int PipedProcess::KillAndReap() {
  GEMMSMITH_CHECK(pid_ > 0, "no process to end");
  ::kill(-pid_, SIGKILL);
  const int exit_code = gemmsmith::Reap(std::exchange(pid_, -1));
  DrainStderr();
  for (int* fd : {&to_child_, &from_child_, &stderr_})
    if (*fd >= 0) ::close(std::exchange(*fd, -1));
  return exit_code;
}

// At the end of the stream it is closed: poll() would report it for ever.
void PipedProcess::DrainStderr() {
  if (stderr_ >= 0 && Drain(stderr_, stderr_tail_, kStderrKept) == Drained::kClosed)
    ::close(std::exchange(stderr_, -1));
}

std::string PipedProcess::StderrTail() {
  DrainStderr();
  return stderr_tail_.size() > kStderrKept ? stderr_tail_.substr(stderr_tail_.size() - kStderrKept) : stderr_tail_;
}

Result<int> SeparateStandardOutput() {
  const int pipe = ::fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
  if (pipe < 0 || ::dup2(STDERR_FILENO, STDOUT_FILENO) < 0)
    return IoError(fmt::format("cannot move standard output away: {}", ErrorText(errno)));
  return pipe;
}

}  // namespace gemmsmith
