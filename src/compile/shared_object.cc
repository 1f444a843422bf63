#include "compile/shared_object.h"

#include <elf.h>

#include <array>
#include <chrono>

#include "base/files.h"
#include "base/installation.h"
#include "base/sandbox.h"
#include "base/seconds.h"
#include "base/subprocess.h"
#include "compile/architecture.h"
#include "compile/elf.h"
#include "compile/facts.h"
#include "compile/fatbin.h"
#include "compile/nvcc.h"
#include "compile/store.h"

namespace gemmsmith {

namespace {

namespace fs = std::filesystem;

constexpr std::chrono::seconds kSharedObjectLimit{120};  // ours take 2 s, CUTLASS up to 60
constexpr size_t kLogKept = 64 << 10;

constexpr std::array kFlags = {"-shared",  "-Xcompiler", "-fPIC",         "-std=c++17",
                               "-O3",      "-DNDEBUG",   "--no-compress", "--expt-relaxed-constexpr",
                               "--cudart", "shared",     "--cudadevrt",   "none"};

// Seen before the first line of every text: a definition that differs does not compile, and one without extern "C" gets
// it.
constexpr std::string_view kContract = R"(#include <cstddef>
#include <cuda_runtime.h>
extern "C" cudaError_t gemm(const void* a, const void* b, void* c, int m, int n, int k, void* workspace,
                            size_t workspace_bytes, cudaStream_t stream);
extern "C" const char gemmsmith_descriptor_v1[];
)";
constexpr const char* kContractName = "gemmsmith_contract.h";

Sandbox SandboxFor(const fs::path& nvcc, const fs::path& folder, const std::vector<fs::path>& includes) {
  Sandbox sandbox;
  sandbox.readable = includes;
  sandbox.readable.push_back(nvcc.parent_path().parent_path());  // the toolkit
  sandbox.writable = folder;
  sandbox.forbidden = SystemCalls::kBuild;
  sandbox.memory_bytes = uint64_t{8} << 30;
  sandbox.file_bytes = kMaxObjectBytes;
  sandbox.max_processes = 64;
  sandbox.cpu_seconds = double(kSharedObjectLimit.count());
  return sandbox;
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

class SandboxedNvcc : public ObjectCompiler {
 public:
  SandboxedNvcc(Nvcc nvcc, std::vector<fs::path> includes) : nvcc_(std::move(nvcc)), includes_(std::move(includes)) {}

  Result<ObjectCompilation> Compile(const std::string& text, std::string_view architecture) override {
    RETURN_IF_ERROR(CheckArchitecture(architecture));
    const auto start = std::chrono::steady_clock::now();
    ASSIGN_OR_RETURN(const TemporaryFolder folder, TemporaryFolder::Create("gemmsmith-object"));
    RETURN_IF_ERROR(WriteFileAtomic(folder.path() / "kernel.cu", text));
    RETURN_IF_ERROR(WriteFileAtomic(folder.path() / kContractName, kContract));
    ASSIGN_OR_RETURN(const std::vector<std::string> command,
                     SandboxedCommand(SandboxFor(nvcc_.program, folder.path(), includes_), Command(architecture)));
    ASSIGN_OR_RETURN(const ProcessResult process, RunProcess(command, kSharedObjectLimit));
    if (process.exit_code != 0) RETURN_IF_ERROR(CheckEnvironment(process, folder.path()));
    ASSIGN_OR_RETURN(ObjectCompilation compilation, Judge(process, folder.path()));
    compilation.seconds = SecondsSince(start);
    return compilation;
  }

  std::string Identity() const override {
    std::string identity = fmt::format("nvcc {}", nvcc_.version);
    for (const char* flag : kFlags) identity += fmt::format(" {}", flag);
    if (!includes_.empty()) identity += fmt::format(" cutlass {}", VersionOf(includes_.front()));
    return identity;
  }

 private:
  std::vector<std::string> Command(std::string_view architecture) const {
    std::vector<std::string> command = {nvcc_.program.string()};
    command.insert(command.end(), kFlags.begin(), kFlags.end());
    // nvcc looks in lib64; a toolkit from Python packages has lib.
    if (const std::optional<fs::path> runtime = FindLibrary("libcudart.so.13"))
      command.push_back("-L" + runtime->parent_path().string());
    for (const fs::path& include : includes_) command.insert(command.end(), {"-I", include.string()});
    command.insert(command.end(), {"-gencode", fmt::format("arch=compute_{0},code=sm_{0}", architecture.substr(3)),
                                   "-include", kContractName, "-o", "kernel.so", "kernel.cu"});
    return command;
  }

  // A source controls the compiler's messages, so they prove nothing about the machine. A full disk must be found full,
  // and a sandbox that failed must fail for another command too.
  Status CheckEnvironment(const ProcessResult& process, const fs::path& folder) const {
    std::error_code unknown;
    const fs::space_info space = fs::space(folder, unknown);
    const bool is_full = !unknown && space.available < kMaxObjectBytes;
    const bool says_so = process.output.find("No space left on device") != std::string::npos;
    if (is_full && says_so)
      return IoError(fmt::format("nvcc failed: {}", LastLine(WithoutFolder(process.output, folder))));
    if (!process.output.starts_with("bwrap: ")) return OkStatus();
    ASSIGN_OR_RETURN(
        const std::vector<std::string> harmless,
        SandboxedCommand(SandboxFor(nvcc_.program, folder, includes_), {nvcc_.program.string(), "--version"}));
    ASSIGN_OR_RETURN(const ProcessResult alone, RunProcess(harmless, kSharedObjectLimit));
    if (alone.exit_code == 0) return OkStatus();
    return IoError(fmt::format("nvcc failed: {}", LastLine(alone.output)));
  }

  static Result<ObjectCompilation> Judge(const ProcessResult& process, const fs::path& folder) {
    ObjectCompilation compilation;
    compilation.log = WithoutFolder(process.output, folder).substr(0, kLogKept);
    if (process.timed_out) {
      compilation.log += fmt::format("error: nvcc was stopped after {} s\n", kSharedObjectLimit.count());
    } else if (process.exit_code != 0 && compilation.log.empty()) {
      compilation.log = fmt::format("error: nvcc ended with {} and without a word\n", process.exit_code);
    } else if (process.exit_code == 0) {
      ASSIGN_OR_RETURN(const std::string object, ReadFile(folder / "kernel.so"));
      compilation.object = WithFacts({object.begin(), object.end()});
    }
    return compilation;
  }

  const Nvcc nvcc_;
  const std::vector<fs::path> includes_;

 public:
  // Where its machine code cannot be read it has no facts, and the screen refuses it.
  static SharedObject WithFacts(std::vector<uint8_t> bytes) {
    Result<SharedObject> read = ReadSharedObject(bytes);
    return read.ok() ? *std::move(read) : SharedObject{.bytes = std::move(bytes)};
  }
};

class CachedObjectCompiler : public ObjectCompiler {
 public:
  CachedObjectCompiler(std::unique_ptr<ObjectCompiler> compiler, fs::path folder)
      : compiler_(std::move(compiler)), store_(std::move(folder)) {}

  Result<ObjectCompilation> Compile(const std::string& text, std::string_view architecture) override {
    const Hash128 key = KeyOf(text, architecture);
    if (auto stored = store_.Find(key)) {
      ObjectCompilation compilation{.log = std::move(stored->log), .from_cache = true};
      if (stored->succeeded) compilation.object = SandboxedNvcc::WithFacts(std::move(stored->code));
      return compilation;
    }
    ASSIGN_OR_RETURN(ObjectCompilation compilation, compiler_->Compile(text, architecture));
    // A failed compilation may have met a limit that others caused, so it is tried again.
    if (compilation.object) store_.Keep(key, {true, compilation.log, compilation.object->bytes});
    return compilation;
  }

  std::string Identity() const override { return compiler_->Identity(); }

 private:
  Hash128 KeyOf(const std::string& text, std::string_view architecture) const {
    ByteWriter key;
    key.PutString("shared object");
    key.PutString(kContract);
    key.PutString(text);
    key.PutString(architecture);
    key.PutString(compiler_->Identity());
    return HashBytes(std::move(key).Take());
  }

  const std::unique_ptr<ObjectCompiler> compiler_;
  const CompilationStore store_;
};

uint64_t GlobalBytes(const ElfFile& cubin) {
  uint64_t bytes = 0;
  for (const ElfSection& section : cubin.sections())
    if (section.name.starts_with(".nv.global")) bytes += section.size;
  return bytes;
}

void AddImports(const ElfFile& cubin, std::vector<std::string>& imports) {
  for (const ElfSymbol& symbol : cubin.symbols())
    if (symbol.type == STT_FUNC && symbol.section == SHN_UNDEF) imports.emplace_back(symbol.name);
}

}  // namespace

Result<SharedObject> ReadSharedObject(std::vector<uint8_t> bytes) {
  SharedObject object{.bytes = std::move(bytes)};
  ASSIGN_OR_RETURN(const ElfFile file, ElfFile::Parse(object.bytes));
  const ElfSection* section = file.FindSection(".nv_fatbin");
  if (section == nullptr) return object;
  ASSIGN_OR_RETURN(const auto cubins, CubinsOf(section->bytes));
  for (const std::span<const uint8_t> cubin : cubins) {
    ASSIGN_OR_RETURN(const std::vector<KernelFacts> kernels, ReadAllCodeFacts(cubin));
    for (const KernelFacts& kernel : kernels) {
      Include(kernel.facts, object.facts);
      object.kernels.push_back(kernel.name);
    }
    ASSIGN_OR_RETURN(const ElfFile parsed, ElfFile::Parse(cubin));
    object.global_bytes += GlobalBytes(parsed);
    AddImports(parsed, object.device_imports);
  }
  return object;
}

Result<std::unique_ptr<ObjectCompiler>> MakeObjectCompiler() {
  RETURN_IF_ERROR(SandboxWorks());
  ASSIGN_OR_RETURN(Nvcc nvcc, FindNvcc());
  // No links on the way: they may lead out of what the sandbox shows.
  std::error_code error;
  nvcc.program = fs::canonical(nvcc.program, error);
  if (error) return IoError(fmt::format("cannot follow the path of nvcc: {}", error.message()));
  return std::unique_ptr<ObjectCompiler>(std::make_unique<SandboxedNvcc>(std::move(nvcc), CutlassIncludes()));
}

std::unique_ptr<ObjectCompiler> MakeCachedObjectCompiler(std::unique_ptr<ObjectCompiler> compiler, fs::path folder) {
  return std::make_unique<CachedObjectCompiler>(std::move(compiler), std::move(folder));
}

}  // namespace gemmsmith
