// Compiles through nvcc as a process, for texts that need the toolkit's headers and to check NVRTC against.
#include <array>
#include <chrono>
#include <filesystem>

#include "base/files.h"
#include "base/installation.h"
#include "base/seconds.h"
#include "base/subprocess.h"
#include "base/text.h"
#include "compile/architecture.h"
#include "compile/compiler.h"
#include "compile/facts.h"
#include "compile/nvcc.h"

namespace gemmsmith {

namespace {

namespace fs = std::filesystem;

constexpr std::chrono::seconds kCompileLimit{120};  // a small kernel takes half a second

// nvcc or one of its tools was killed, or had no room to write. (An error in the text ends in exit code 1 or 2, one
// found by ptxas in 255.)
bool IsFailureOfTheMachine(int exit_code, std::string_view log) {
  const bool killed = exit_code > 128 && exit_code < 128 + 64;
  return killed || log.find("died due to signal 9") != std::string_view::npos ||
         log.find("No space left on device") != std::string_view::npos;
}

class NvccCompiler : public Compiler {
 public:
  NvccCompiler(fs::path nvcc, std::string version) : nvcc_(std::move(nvcc)), version_(std::move(version)) {}

  Result<Compilation> Compile(const Source& source, std::string_view architecture) override {
    RETURN_IF_ERROR(CheckArchitecture(architecture));
    const auto start = std::chrono::steady_clock::now();
    ASSIGN_OR_RETURN(const TemporaryFolder folder, TemporaryFolder::Create("gemmsmith-nvcc"));
    RETURN_IF_ERROR(WriteFileAtomic(folder.path() / "kernel.cu", source.text));
    for (const DeviceHeader& header : DeviceHeaders())
      RETURN_IF_ERROR(WriteFileAtomic(folder.path() / header.name, header.text));
    ASSIGN_OR_RETURN(ProcessResult process, RunProcess(Command(folder.path(), architecture), kCompileLimit));

    Compilation compilation;
    compilation.log = WithoutFolder(std::move(process.output), folder.path());
    if (process.timed_out) {
      compilation.log += fmt::format("error: nvcc was stopped after {} s\n", kCompileLimit.count());
    } else if (IsFailureOfTheMachine(process.exit_code, compilation.log)) {
      return IoError(fmt::format("nvcc failed (exit code {}): {}", process.exit_code, LastLine(compilation.log)));
    } else if (process.exit_code == 0) {
      ASSIGN_OR_RETURN(const std::string cubin, ReadFile(folder.path() / "kernel.cubin"));
      RETURN_IF_ERROR(FinishCompilation({cubin.begin(), cubin.end()}, source.entry, compilation));
    }
    compilation.seconds = SecondsSince(start);
    return compilation;
  }

  std::string Identity() const override {
    std::string identity = fmt::format("nvcc {}", version_);
    for (const char* flag : kFlags) identity += fmt::format(" {}", flag);
    return identity;
  }

 private:
  static constexpr std::array kFlags = {"-cubin", "-std=c++17", "-DNDEBUG"};

  std::vector<std::string> Command(const fs::path& folder, std::string_view architecture) const {
    std::vector<std::string> command = {nvcc_.string()};
    command.insert(command.end(), kFlags.begin(), kFlags.end());
    command.insert(command.end(),
                   {"-gencode", fmt::format("arch=compute_{0},code=sm_{0}", architecture.substr(3)), "-I",
                    folder.string(), "-o", (folder / "kernel.cubin").string(), (folder / "kernel.cu").string()});
    return command;
  }

  const fs::path nvcc_;
  const std::string version_;
};

// "13.0.88" from "Cuda compilation tools, release 13.0, V13.0.88".
Result<std::string> NvccVersion(const fs::path& nvcc) {
  ASSIGN_OR_RETURN(const ProcessResult process, RunProcess({nvcc.string(), "--version"}, std::chrono::seconds(20)));
  for (const std::string_view word : SplitWords(process.output))
    if (word.size() > 1 && word[0] == 'V' && word.find_first_not_of("0123456789.", 1) == std::string_view::npos)
      return std::string(word.substr(1));
  return Unavailable(fmt::format("{} --version tells no version", nvcc.string()));
}

}  // namespace

std::string WithoutFolder(std::string log, const fs::path& folder) {
  const std::string prefix = folder.string() + "/";
  for (size_t at = log.find(prefix); at != std::string::npos; at = log.find(prefix, at)) log.erase(at, prefix.size());
  return log;
}

std::string LastLine(std::string_view log) {
  while (log.ends_with('\n')) log.remove_suffix(1);
  return std::string(log.substr(log.rfind('\n') + 1));
}

Result<Nvcc> FindNvcc() {
  const auto program = FindProgram("nvcc");
  if (!program)
    return Unavailable("no nvcc: neither in a CUDA toolkit folder nor on PATH; install the CUDA toolkit 13");
  ASSIGN_OR_RETURN(std::string version, NvccVersion(*program));
  return Nvcc{*program, std::move(version)};
}

Result<std::unique_ptr<Compiler>> MakeNvccCompiler() {
  ASSIGN_OR_RETURN(Nvcc nvcc, FindNvcc());
  return std::unique_ptr<Compiler>(std::make_unique<NvccCompiler>(std::move(nvcc.program), std::move(nvcc.version)));
}

}  // namespace gemmsmith
