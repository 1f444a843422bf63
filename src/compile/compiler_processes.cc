// A message is its length (8 bytes), then its parts; docs/design.md says why compilers have processes.
#include <signal.h>
#include <unistd.h>

#include <chrono>
#include <condition_variable>
#include <mutex>

#include "base/bytes.h"
#include "base/descriptors.h"
#include "base/subprocess.h"
#include "compile/compiler.h"
#include "compile/facts.h"

namespace gemmsmith {

namespace {

constexpr auto kLimit = std::chrono::seconds(120);  // of one compilation; the longest seen took 2 s
constexpr uint64_t kMaxMessageBytes = uint64_t{1} << 28;

std::string WithLength(std::string message) {
  ByteWriter writer;
  writer.Put(uint64_t(message.size()));
  return std::move(writer).Take() + message;
}

std::string EncodeRequest(const Source& source, std::string_view architecture) {
  ByteWriter writer;
  writer.PutString(source.text);
  writer.PutString(source.entry);
  writer.PutString(architecture);
  return WithLength(std::move(writer).Take());
}

std::string EncodeAnswer(const Result<Compilation>& compilation) {
  ByteWriter writer;
  writer.Put(compilation.status().code());
  if (!compilation.ok()) {
    writer.PutString(compilation.status().message());
  } else {
    writer.Put(uint8_t(compilation->succeeded));
    writer.Put(compilation->seconds);
    writer.PutString(compilation->log);
    writer.PutVector(compilation->binary.cubin);
  }
  return WithLength(std::move(writer).Take());
}

// Facts are read from the cubin again, as from a cache.
Result<Compilation> DecodeAnswer(std::string_view bytes, const std::string& entry) {
  ByteReader reader(bytes);
  const auto code = reader.Get<StatusCode>();
  if (code != StatusCode::kOk) return Status(code, reader.GetString());
  Compilation compilation;
  const bool succeeded = reader.Get<uint8_t>() != 0;
  compilation.seconds = reader.Get<double>();
  compilation.log = reader.GetString();
  std::vector<uint8_t> cubin = reader.GetVector<uint8_t>();
  if (reader.failed() || reader.remaining() != 0) return DataLoss("a compiler process sent a damaged answer");
  if (succeeded) RETURN_IF_ERROR(FinishCompilation(std::move(cubin), entry, compilation));
  return compilation;
}

Result<std::string> Ask(PipedProcess& process, const std::string& request) {
  const auto deadline = std::chrono::steady_clock::now() + kLimit;
  std::string length, answer;
  RETURN_IF_ERROR(process.Write(request, deadline));
  RETURN_IF_ERROR(process.ReadExactly(sizeof(uint64_t), length, deadline));
  const auto bytes = ByteReader(length).Get<uint64_t>();
  if (bytes > kMaxMessageBytes) return DataLoss("a compiler process sent an impossible length");
  RETURN_IF_ERROR(process.ReadExactly(bytes, answer, deadline));
  return answer;
}

// By a signal that a program earns by its own fault.
bool IsCrash(int exit_code) {
  return exit_code > 128 && (exit_code - 128 == SIGSEGV || exit_code - 128 == SIGABRT || exit_code - 128 == SIGBUS ||
                             exit_code - 128 == SIGFPE || exit_code - 128 == SIGILL);
}

class CompilerProcesses : public Compiler {
 public:
  CompilerProcesses(std::unique_ptr<Compiler> here, std::vector<std::string> command, int count)
      : here_(std::move(here)), command_(std::move(command)), free_slots_(count) {}

  Result<Compilation> Compile(const Source& source, std::string_view architecture) override {
    ProcessLease lease(*this);
    return CompileElsewhere(lease.process, source, architecture);
  }

  std::string Identity() const override { return here_->Identity(); }

 private:
  // Lends one of the processes; starts one if none is idle.
  struct ProcessLease {
    explicit ProcessLease(CompilerProcesses& pool_) : pool(pool_) {
      std::unique_lock lock(pool.mutex_);
      pool.slot_freed_.wait(lock, [this] { return pool.free_slots_ > 0; });
      --pool.free_slots_;
      if (pool.idle_.empty()) return;
      process = std::move(pool.idle_.back());
      pool.idle_.pop_back();
    }
    ~ProcessLease() {
      const std::lock_guard lock(pool.mutex_);
      ++pool.free_slots_;
      if (process) pool.idle_.push_back(std::move(process));
      pool.slot_freed_.notify_one();
    }
    CompilerProcesses& pool;
    std::unique_ptr<PipedProcess> process;
  };

  // A process that ends is replaced once: it may have been ended from outside. A text that crashes two of them does not
  // compile. Any other end of a process is the environment's failure and says nothing about the text.
  Result<Compilation> CompileElsewhere(std::unique_ptr<PipedProcess>& process, const Source& source,
                                       std::string_view architecture) {
    std::string end;
    bool crashed = true;
    for (int attempt = 0; attempt < 2; ++attempt) {
      if (!process) {
        Result<PipedProcess> started = PipedProcess::Start(command_);
        if (!started.ok()) return CompileHere(source, architecture);
        process = std::make_unique<PipedProcess>(*std::move(started));
      }
      const Result<std::string> answer = Ask(*process, EncodeRequest(source, architecture));
      if (answer.ok()) return DecodeAnswer(*answer, source.entry);
      const int exit_code = process->KillAndReap();
      crashed = crashed && IsCrash(exit_code);
      end = fmt::format("the compiler process failed: {}, exit code {}; it said: {}", answer.status().message(),
                        exit_code, process->StderrTail());
      process.reset();
    }
    if (!crashed) return Unavailable(end);
    Compilation compilation;
    compilation.log = "error: " + end + "\n";
    return compilation;
  }

  // Where the system has no more processes to give.
  Result<Compilation> CompileHere(const Source& source, std::string_view architecture) {
    const std::lock_guard lock(here_mutex_);
    return here_->Compile(source, architecture);
  }

  const std::unique_ptr<Compiler> here_;
  std::mutex here_mutex_;
  const std::vector<std::string> command_;
  std::mutex mutex_;
  std::condition_variable slot_freed_;
  int free_slots_;
  std::vector<std::unique_ptr<PipedProcess>> idle_;
};

}  // namespace

std::unique_ptr<Compiler> MakeCompilerProcesses(std::unique_ptr<Compiler> here, std::vector<std::string> command,
                                                int count) {
  return std::make_unique<CompilerProcesses>(std::move(here), std::move(command), count);
}

int ServeCompilations(Compiler& compiler, int in, int out) {
  std::string length, request;
  while (ReadUpTo(in, sizeof(uint64_t), length) == sizeof(uint64_t)) {
    const auto bytes = ByteReader(length).Get<uint64_t>();
    if (bytes > kMaxMessageBytes || ReadUpTo(in, bytes, request) != ssize_t(bytes)) return 1;
    ByteReader reader(request);
    Source source;
    source.text = reader.GetString();
    source.entry = reader.GetString();
    const std::string architecture = reader.GetString();
    if (reader.failed() || reader.remaining() != 0) return 1;
    // The asking process has given up by then, or is gone.
    ::alarm(unsigned(kLimit.count()) + 10);
    const std::string answer = EncodeAnswer(compiler.Compile(source, architecture));
    ::alarm(0);
    if (!WriteAll(out, answer)) return 1;
  }
  return 0;
}

}  // namespace gemmsmith
