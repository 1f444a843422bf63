#include "compile/source_program.h"

#include <array>
#include <atomic>
#include <chrono>
#include <map>
#include <mutex>

#include "base/files.h"
#include "base/installation.h"
#include "base/sandbox.h"
#include "base/seconds.h"
#include "base/subprocess.h"
#include "base/text.h"
#include "compile/architecture.h"
#include "compile/narrow_headers.h"
#include "compile/nvcc.h"
#include "compile/recorder_archive.h"
#include "compile/store.h"

namespace gemmsmith {

namespace {

namespace fs = std::filesystem;

constexpr std::chrono::seconds kBuildLimit{120};  // ours take 2 s, CUTLASS up to 60
constexpr size_t kLogKept = 64 << 10;
// CUTLASS's collective builders write 90 MB into one file, 140 MB in all.
constexpr uint64_t kBuildFileBytes = uint64_t{512} << 20;

// Host code runs for the recorder only. Without -fno-tree-sra, copies of a struct leave out its padding, which then
// holds whatever stood on the stack and differs from call to call.
constexpr std::array kFlags = {"-std=c++17",
                               "-O1",
                               "-DNDEBUG",
                               "--no-compress",
                               "--expt-relaxed-constexpr",
                               "-Xcompiler",
                               "-ftrivial-auto-var-init=zero,-fno-tree-sra,-fno-ipa-sra",
                               "--cudart",
                               "none",
                               "--cudadevrt",
                               "none"};

// Seen before the first line of every text: a definition that differs does not compile, and one without extern "C" gets
// it.
constexpr std::string_view kContract = R"(#include <cstddef>
#include <cuda_runtime.h>
extern "C" cudaError_t gemm(const void* a, const void* b, void* c, int m, int n, int k, void* workspace,
                            size_t workspace_bytes, cudaStream_t stream);
extern "C" const char gemmsmith_descriptor_v1[];
)";
constexpr const char *kContractName = "gemmsmith_contract.h", *kRecorderName = "recorder.a", *kHeaders = "headers";
// The headers of the contract, in their order; nvcc puts cuda_runtime.h in front of every text.
constexpr std::string_view kContractHeaders[] = {"cuda_runtime.h", "cstddef"};
constexpr size_t kMaxIncludeLists = 8;  // some 10 MB each

Sandbox SandboxFor(const fs::path& nvcc, const fs::path& folder, const std::vector<fs::path>& includes) {
  Sandbox sandbox;
  sandbox.readable = includes;
  sandbox.readable.push_back(nvcc.parent_path().parent_path());  // the toolkit
  sandbox.writable = folder;
  sandbox.is_filtered = true;
  sandbox.memory_bytes = uint64_t{8} << 30;
  sandbox.file_bytes = kBuildFileBytes;
  sandbox.max_processes = 64;
  sandbox.cpu_seconds = double(kBuildLimit.count());
  return sandbox;
}

// The linker and ptxas name functions that nothing defines. Their lines say which the contract lacks.
std::string ContractErrors(std::string_view log) {
  std::vector<std::string> errors;
  const auto add = [&](std::string error) {
    if (std::find(errors.begin(), errors.end(), error) == errors.end()) errors.push_back(std::move(error));
  };
  for (const std::string_view line : Split(log, '\n')) {
    for (const std::string_view words : {"undefined reference to ", "Unresolved extern function "}) {
      const size_t at = line.find(words);
      if (at == std::string_view::npos || line.size() < at + words.size() + 2) continue;
      const std::string_view name = line.substr(at + words.size() + 1, line.size() - at - words.size() - 2);
      const bool is_gemm = name == "gemm" || name == "gemmsmith_descriptor_v1";
      add(is_gemm ? fmt::format("error: nothing defines {} (docs/free_form.md)\n", name)
                  : fmt::format("error: the contract has no {} (docs/free_form.md)\n", WithoutControls(name)));
    }
  }
  return Join(errors, "");
}

// Puts a built program into the compilation. One whose machine code cannot be read does not count as built.
void Keep(std::vector<uint8_t> bytes, SourceCompilation& compilation) {
  Result<SourceProgram> program = ReadSourceProgram(std::move(bytes));
  if (program.ok())
    compilation.program = *std::move(program);
  else
    compilation.log += fmt::format("error: {}\n", program.status().message());
}

// "cutlass 4.2.0", from its version.h; where that cannot be read, the folder has to do.
std::string VersionOf(const fs::path& include) {
  const Result<std::string> text = ReadFile(include / "cutlass" / "version.h");
  if (!text.ok()) return include.string();
  std::string version;
  for (const std::string_view part : {"CUTLASS_MAJOR ", "CUTLASS_MINOR ", "CUTLASS_PATCH "}) {
    const size_t at = text->find(part);
    if (at == std::string::npos) return include.string();
    const size_t end = text->find_first_not_of("0123456789", at + part.size());
    version += (version.empty() ? "" : ".") + text->substr(at + part.size(), end - at - part.size());
  }
  return version;
}

// Narrow headers by architecture and includes, each made when it is first asked for.
class HeaderShelf {
 public:
  // Null where they cannot be made. `make` returns a Result<NarrowHeaders>.
  template <class Make>
  const NarrowHeaders* Get(std::string_view architecture, const std::vector<std::string>& includes, Make make) {
    const std::shared_ptr<Shelved> place = Place(std::string(architecture) + "\n" + Join(includes, "\n"));
    if (place == nullptr) return nullptr;
    std::call_once(place->once, [&] {
      if (Result<NarrowHeaders> made = make(); made.ok()) place->headers.emplace(*std::move(made));
    });
    return place->headers ? &*place->headers : nullptr;
  }

 private:
  struct Shelved {
    std::once_flag once;
    std::optional<NarrowHeaders> headers;
  };

  std::shared_ptr<Shelved> Place(const std::string& key) {
    const std::lock_guard lock(mutex_);
    const auto found = places_.find(key);
    if (found != places_.end()) return found->second;
    if (places_.size() == kMaxIncludeLists) return nullptr;
    return places_[key] = std::make_shared<Shelved>();
  }

  std::mutex mutex_;
  std::map<std::string, std::shared_ptr<Shelved>> places_;
};

class SandboxedNvcc : public SourceCompiler {
 public:
  SandboxedNvcc(Nvcc nvcc, std::vector<fs::path> includes) : nvcc_(std::move(nvcc)), includes_(std::move(includes)) {}

  Result<SourceCompilation> Compile(const std::string& text, std::string_view architecture) override {
    RETURN_IF_ERROR(CheckArchitecture(architecture));
    const auto start = std::chrono::steady_clock::now();
    std::optional<SourceCompilation> compilation;
    if (const std::optional<std::string> headers = HeadersFor(text, architecture)) {
      ASSIGN_OR_RETURN(compilation, Build(text, &*headers, architecture, kBuildLimit));
      compilation->has_narrow_headers = true;
    }
    const auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(start + kBuildLimit - std::chrono::steady_clock::now());
    if (!compilation || (!compilation->program && left > std::chrono::seconds(1))) {
      ASSIGN_OR_RETURN(compilation, Build(text, nullptr, architecture, left));
    }
    compilation->seconds = SecondsSince(start);
    return *std::move(compilation);
  }

  std::string Identity() const override {
    std::string identity = fmt::format("nvcc {}", nvcc_.version);
    for (const char* flag : kFlags) identity += fmt::format(" {}", flag);
    if (!includes_.empty()) identity += fmt::format(" cutlass {}", VersionOf(includes_.front()));
    return identity;
  }

 private:
  // nullopt: the real ones. A process that builds one source would lose by making them.
  std::optional<std::string> HeadersFor(const std::string& text, std::string_view architecture) {
    if (builds_++ == 0) return std::nullopt;
    std::optional<SourceNames> source = NamesOfSource(text);
    if (!source) return std::nullopt;
    // The contract has them in any case.
    std::erase_if(source->includes, [](const std::string& include) {
      return std::ranges::find(kContractHeaders, include) != std::end(kContractHeaders);
    });
    const NarrowHeaders* const headers =
        shelf_.Get(architecture, source->includes, [&] { return MakeHeaders(source->includes, architecture); });
    if (headers == nullptr) return std::nullopt;
    source->names.merge(NamesOf(kContract));
    return headers->For(source->names);
  }

  Result<NarrowHeaders> MakeHeaders(const std::vector<std::string>& includes, std::string_view architecture) const {
    ASSIGN_OR_RETURN(const std::string launcher,
                     ReadFile(nvcc_.program.parent_path().parent_path() / "include" / "crt" / "host_runtime.h"));
    std::vector<std::string> all(std::begin(kContractHeaders), std::end(kContractHeaders));
    all.insert(all.end(), includes.begin(), includes.end());
    ASSIGN_OR_RETURN(const TemporaryFolder folder, TemporaryFolder::Create("gemmsmith-headers"));
    RETURN_IF_ERROR(WriteFileAtomic(folder.path() / "kernel.cu", IncludeLines(all)));
    std::vector<std::string> command = Flags(architecture);
    command.insert(command.end(), {"-Xcompiler", "-dD", "--keep", "-cuda", "-o", "kernel.cpp", "kernel.cu"});
    ASSIGN_OR_RETURN(const ProcessResult process, Run(folder.path(), std::move(command), kBuildLimit));
    if (process.exit_code != 0) return Unavailable(fmt::format("nvcc: {}", LastLine(process.output)));
    ASSIGN_OR_RETURN(const std::string host, ReadFile(folder.path() / "kernel.cpp4.ii"));
    ASSIGN_OR_RETURN(const std::string device, ReadFile(folder.path() / "kernel.cpp1.ii"));
    return NarrowHeaders::Read(host, device, launcher);
  }

  // With all headers, if `headers` is null.
  Result<SourceCompilation> Build(const std::string& text, const std::string* headers, std::string_view architecture,
                                  std::chrono::milliseconds limit) const {
    ASSIGN_OR_RETURN(const TemporaryFolder folder, TemporaryFolder::Create("gemmsmith-source"));
    RETURN_IF_ERROR(WriteFileAtomic(folder.path() / "kernel.cu", text));
    RETURN_IF_ERROR(WriteFileAtomic(folder.path() / kContractName, kContract));
    RETURN_IF_ERROR(WriteFileAtomic(folder.path() / kRecorderName, RecorderArchive()));
    std::vector<std::string> command = Flags(architecture);
    if (headers != nullptr) {
      RETURN_IF_ERROR(WriteFileAtomic(folder.path() / kHeaders / "cuda_runtime.h", *headers));
      // The second keeps mathematics for the host, which the narrow headers may lack, out of the launcher's header.
      command.insert(command.begin() + 1, {"-I", kHeaders, "-Xcompiler", "-D__COMMON_FUNCTIONS_H__"});
      if (has_gold_) command.insert(command.begin() + 1, {"-Xcompiler", "-fuse-ld=gold"});
    }
    command.insert(command.end(), {"-include", kContractName, "-o", "program", "kernel.cu", kRecorderName});
    ASSIGN_OR_RETURN(const ProcessResult process, Run(folder.path(), std::move(command), limit));
    if (process.exit_code != 0) RETURN_IF_ERROR(CheckEnvironment(process, folder.path()));
    return Judge(process, folder.path());
  }

  Result<ProcessResult> Run(const fs::path& folder, std::vector<std::string> command,
                            std::chrono::milliseconds limit) const {
    ASSIGN_OR_RETURN(const std::vector<std::string> sandboxed,
                     SandboxedCommand(SandboxFor(nvcc_.program, folder, includes_), std::move(command)));
    return RunProcess(sandboxed, limit);
  }

  std::vector<std::string> Flags(std::string_view architecture) const {
    std::vector<std::string> command = {nvcc_.program.string()};
    command.insert(command.end(), kFlags.begin(), kFlags.end());
    for (const fs::path& include : includes_) command.insert(command.end(), {"-I", include.string()});
    command.insert(command.end(), {"-gencode", fmt::format("arch=compute_{0},code=sm_{0}", architecture.substr(3))});
    return command;
  }

  // A source controls the compiler's messages, so they prove nothing about the machine. A full disk must be found full,
  // and a sandbox that failed must fail for another command too.
  Status CheckEnvironment(const ProcessResult& process, const fs::path& folder) const {
    std::error_code unknown;
    const fs::space_info space = fs::space(folder, unknown);
    const bool is_full = !unknown && space.available < kBuildFileBytes;
    const bool says_so = process.output.find("No space left on device") != std::string::npos;
    if (is_full && says_so)
      return IoError(fmt::format("nvcc failed: {}", LastLine(WithoutFolder(process.output, folder))));
    if (!process.output.starts_with("bwrap: ")) return OkStatus();
    ASSIGN_OR_RETURN(
        const std::vector<std::string> harmless,
        SandboxedCommand(SandboxFor(nvcc_.program, folder, includes_), {nvcc_.program.string(), "--version"}));
    ASSIGN_OR_RETURN(const ProcessResult alone, RunProcess(harmless, kBuildLimit));
    if (alone.exit_code == 0) return OkStatus();
    return IoError(fmt::format("nvcc failed: {}", LastLine(alone.output)));
  }

  static Result<SourceCompilation> Judge(const ProcessResult& process, const fs::path& folder) {
    SourceCompilation compilation;
    const std::string log = WithoutFolder(process.output, folder);
    compilation.log = (ContractErrors(log) + log).substr(0, kLogKept);
    if (process.timed_out) {
      compilation.log += fmt::format("error: nvcc was stopped after {} s\n", kBuildLimit.count());
    } else if (process.exit_code != 0 && compilation.log.empty()) {
      compilation.log = fmt::format("error: nvcc ended with {} and without a word\n", process.exit_code);
    } else if (process.exit_code == 0) {
      std::error_code error;
      if (fs::file_size(folder / "program", error) > kMaxProgramBytes || error) {
        compilation.log += "error: the program has more than 64 MiB\n";
        return compilation;
      }
      ASSIGN_OR_RETURN(const std::string program, ReadFile(folder / "program"));
      Keep({program.begin(), program.end()}, compilation);
    }
    return compilation;
  }

  const Nvcc nvcc_;
  const std::vector<fs::path> includes_;
  const bool has_gold_ = fs::exists("/usr/bin/ld.gold");  // links in half the time
  std::atomic<size_t> builds_ = 0;
  HeaderShelf shelf_;
};

class CachedSourceCompiler : public SourceCompiler {
 public:
  CachedSourceCompiler(std::unique_ptr<SourceCompiler> compiler, fs::path folder)
      : compiler_(std::move(compiler)), store_(std::move(folder)) {}

  Result<SourceCompilation> Compile(const std::string& text, std::string_view architecture) override {
    const Hash128 key = KeyOf(text, architecture);
    if (auto stored = store_.Find(key)) {
      SourceCompilation compilation{.log = std::move(stored->log), .from_cache = true};
      if (stored->succeeded) Keep(std::move(stored->code), compilation);
      return compilation;
    }
    ASSIGN_OR_RETURN(SourceCompilation compilation, compiler_->Compile(text, architecture));
    // A failed compilation may have met a limit that others caused, so it is tried again.
    if (compilation.program) store_.Keep(key, {true, compilation.log, compilation.program->bytes});
    return compilation;
  }

  std::string Identity() const override { return compiler_->Identity(); }

 private:
  Hash128 KeyOf(const std::string& text, std::string_view architecture) const {
    ByteWriter key;
    key.PutString("source program");
    key.PutString(kContract);
    key.PutString(RecorderArchive());
    key.PutString(text);
    key.PutString(architecture);
    key.PutString(compiler_->Identity());
    return HashBytes(std::move(key).Take());
  }

  const std::unique_ptr<SourceCompiler> compiler_;
  const CompilationStore store_;
};

}  // namespace

Result<std::unique_ptr<SourceCompiler>> MakeSourceCompiler() {
  RETURN_IF_ERROR(SandboxWorks());
  ASSIGN_OR_RETURN(Nvcc nvcc, FindNvcc());
  // No links on the way: they may lead out of what the sandbox shows.
  std::error_code error;
  nvcc.program = fs::canonical(nvcc.program, error);
  if (error) return IoError(fmt::format("cannot follow the path of nvcc: {}", error.message()));
  return std::unique_ptr<SourceCompiler>(std::make_unique<SandboxedNvcc>(std::move(nvcc), CutlassIncludes()));
}

std::unique_ptr<SourceCompiler> MakeCachedSourceCompiler(std::unique_ptr<SourceCompiler> compiler, fs::path folder) {
  return std::make_unique<CachedSourceCompiler>(std::move(compiler), std::move(folder));
}

}  // namespace gemmsmith
