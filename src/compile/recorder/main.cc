// The program's main: asks gemm() and writes what it recorded.
//
// Request and answers are texts with their size in front, as eight hexadecimal digits. The request is written and the
// answers are read by compile/recording.cc. An answer is "returned NAME\n" with the name of gemm()'s error, followed by
// a recipe if that is cudaSuccess; or "refused REASON\n".
#include <alloca.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "compile/recorder/recorder.h"

extern "C" cudaError_t gemm(const void* a, const void* b, void* c, int m, int n, int k, void* workspace,
                            size_t workspace_bytes, cudaStream_t stream);

namespace gemmsmith::recorder {

namespace {

constexpr int kAnswers = 100;  // the descriptor

// The system calls that the C and C++ libraries need to compute, print and end. A filter of our own, so that no library
// is needed.
constexpr long kAllowed[] = {
    SYS_read,         SYS_write,          SYS_writev,      SYS_close,          SYS_lseek,
    SYS_mmap,         SYS_munmap,         SYS_mremap,      SYS_mprotect,       SYS_brk,
    SYS_madvise,      SYS_futex,          SYS_exit,        SYS_exit_group,     SYS_clock_gettime,
    SYS_gettimeofday, SYS_getrandom,      SYS_sched_yield, SYS_rt_sigprocmask, SYS_getpid,
    SYS_gettid,       SYS_tgkill,         SYS_sysinfo,     SYS_uname,          SYS_restart_syscall,
    SYS_nanosleep,    SYS_clock_nanosleep};
// Look for something that is not there.
constexpr long kMissing[] = {SYS_open,  SYS_openat,     SYS_access,   SYS_faccessat,  SYS_stat,   SYS_lstat, SYS_fstat,
                             SYS_statx, SYS_newfstatat, SYS_readlink, SYS_readlinkat, SYS_getcwd, SYS_ioctl};

void Confine() {
  constexpr uint32_t kCallOffset = offsetof(seccomp_data, nr), kArchOffset = offsetof(seccomp_data, arch);
  constexpr size_t kAllowedCount = sizeof kAllowed / sizeof *kAllowed,
                   kMissingCount = sizeof kMissing / sizeof *kMissing;
  sock_filter rules[4 + 2 * (kAllowedCount + kMissingCount) + 1];
  size_t count = 0;
  const auto add = [&](uint16_t code, uint8_t if_true, uint8_t if_false, uint32_t value) {
    rules[count++] = {code, if_true, if_false, value};
  };
  add(BPF_LD | BPF_W | BPF_ABS, 0, 0, kArchOffset);
  add(BPF_JMP | BPF_JEQ | BPF_K, 1, 0, AUDIT_ARCH_X86_64);
  add(BPF_RET | BPF_K, 0, 0, SECCOMP_RET_KILL_PROCESS);
  add(BPF_LD | BPF_W | BPF_ABS, 0, 0, kCallOffset);
  for (const long call : kAllowed) {
    add(BPF_JMP | BPF_JEQ | BPF_K, 0, 1, uint32_t(call));
    add(BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ALLOW);
  }
  for (const long call : kMissing) {
    add(BPF_JMP | BPF_JEQ | BPF_K, 0, 1, uint32_t(call));
    add(BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ERRNO | ENOENT);
  }
  add(BPF_RET | BPF_K, 0, 0, SECCOMP_RET_KILL_PROCESS);
  sock_fprog program = {uint16_t(count), rules};
  if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 || ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0)
    ::_exit(EXIT_FAILURE);
}

// Runs before every constructor of the source's. Answers get a descriptor of their own, apart from what is printed.
// Descriptors that some parent left open are not the source's.
void Prepare() {
  if (::dup2(STDOUT_FILENO, kAnswers) < 0 || ::dup2(STDERR_FILENO, STDOUT_FILENO) < 0) ::_exit(EXIT_FAILURE);
  if (::close_range(STDERR_FILENO + 1, kAnswers - 1, 0) != 0 || ::close_range(kAnswers + 1, ~0U, 0) != 0)
    ::_exit(EXIT_FAILURE);
  Confine();
}
__attribute__((section(".preinit_array"), used)) void (*const prepare_first)() = Prepare;

bool ReadExactly(char* bytes, size_t count) {
  while (count > 0) {
    const ssize_t taken = ::read(STDIN_FILENO, bytes, count);
    if (taken <= 0) return false;
    bytes += taken, count -= size_t(taken);
  }
  return true;
}

void WriteAnswer(const std::string& text) {
  char size[9];
  std::snprintf(size, sizeof size, "%08zx", text.size());
  const std::string answer = size + text;
  for (size_t at = 0; at < answer.size();) {
    const ssize_t written = ::write(kAnswers, answer.data() + at, answer.size() - at);
    if (written <= 0) std::abort();
    at += size_t(written);
  }
}

class Words {
 public:
  explicit Words(std::string text) : text_(std::move(text)) {}
  std::string Take(char end) {
    const size_t at = text_.find(end, next_);
    if (at == std::string::npos) std::abort();
    std::string word = text_.substr(next_, at - next_);
    next_ = at + 1;
    return word;
  }
  uint64_t Number() { return std::strtoull(Take(' ').c_str(), nullptr, 10); }
  template <class... Integers>
  void Numbers(Integers&... integers) {
    ((integers = Integers(Number())), ...);
  }

 private:
  std::string text_;
  size_t next_ = 0;
};

Kernel TakeKernel(Words& words) {
  Kernel kernel;
  kernel.name = words.Take(' ');
  words.Numbers(kernel.parameter_bytes, kernel.registers, kernel.static_smem_bytes, kernel.local_bytes,
                kernel.max_threads, kernel.cluster.x, kernel.cluster.y, kernel.cluster.z);
  kernel.parameters.resize(words.Number());
  for (Parameter& parameter : kernel.parameters) words.Numbers(parameter.offset, parameter.bytes);
  kernel.dynamic_smem_limit = kOrdinarySmem - std::min<size_t>(kOrdinarySmem, kernel.static_smem_bytes);
  return kernel;
}

Request ReadRequest() {
  char size[9] = {};
  if (!ReadExactly(size, 8)) std::abort();
  std::string text(std::strtoull(size, nullptr, 16), '\0');
  if (!ReadExactly(text.data(), text.size())) std::abort();
  Words words(std::move(text));
  Request request;
  DeviceNumbers& device = request.device;
  device.name = words.Take('\n');
  words.Numbers(device.major, device.minor, device.multiprocessors, device.smem_block, device.smem_multiprocessor,
                device.registers, device.threads_block, device.threads_multiprocessor, device.ctas_multiprocessor,
                device.l2_bytes);
  for (auto& of_size : device.clusters)
    for (int& clusters : of_size) words.Numbers(clusters);
  for (uint64_t left = words.Number(); left > 0; --left) request.kernels.push_back(TakeKernel(words));
  words.Numbers(request.secret);
  request.asks.resize(words.Number());
  for (Ask& ask : request.asks)
    words.Numbers(ask.m, ask.n, ask.k, ask.a, ask.b, ask.c, ask.workspace, ask.workspace_bytes, ask.stream);
  return request;
}

// The rest of an earlier call on the stack would otherwise stand in the padding of parameters.
__attribute__((noinline)) void WipeStack() {
  constexpr size_t kBytes = 256 << 10;
  void* const bytes = alloca(kBytes);
  std::memset(bytes, 0, kBytes);
  asm volatile("" : : "r"(bytes) : "memory");
}

template <class T>
T* Pointer(uint64_t address) {
  return reinterpret_cast<T*>(address);
}

std::string AnswerTo(const Ask& ask) {
  CallRecord& call = PresentCall();
  call = {};
  call.stream = Pointer<CUstream_st>(ask.stream);
  Remember(cudaSuccess);
  WipeStack();
  const cudaError_t error = gemm(Pointer<void>(ask.a), Pointer<void>(ask.b), Pointer<void>(ask.c), ask.m, ask.n, ask.k,
                                 Pointer<void>(ask.workspace), ask.workspace_bytes, call.stream);
  if (!call.refusal.empty()) return "refused " + call.refusal + "\n";
  const std::string head = std::string("returned ") + NameOf(error) + "\n";
  return error == cudaSuccess ? head + "recipe 1\n" + call.maps + call.steps : head;
}

}  // namespace

Request& TheRequest() {
  static Request request = ReadRequest();
  return request;
}

}  // namespace gemmsmith::recorder

int main() {
  using namespace gemmsmith::recorder;
  for (const Ask& ask : TheRequest().asks) WriteAnswer(AnswerTo(ask));
  // The source's destructors are of no interest.
  ::_exit(EXIT_SUCCESS);
}
