// Compiles in process. The device headers are handed over as text, so nothing is read from disk but the library itself.
#include <dlfcn.h>
#include <nvrtc.h>

#include <array>
#include <chrono>
#include <vector>

#include "base/installation.h"
#include "base/seconds.h"
#include "compile/architecture.h"
#include "compile/compiler.h"
#include "compile/facts.h"

namespace gemmsmith {

namespace {

// clang-format off
#define GEMMSMITH_NVRTC_FUNCTIONS(X)                                                                                  \
  X(nvrtcVersion) X(nvrtcCreateProgram) X(nvrtcDestroyProgram) X(nvrtcCompileProgram) X(nvrtcGetCUBINSize)            \
  X(nvrtcGetCUBIN) X(nvrtcGetProgramLogSize) X(nvrtcGetProgramLog) X(nvrtcGetErrorString)
// clang-format on

struct NvrtcLibrary {
#define GEMMSMITH_DECLARE(function) decltype(&::function) function = nullptr;
  GEMMSMITH_NVRTC_FUNCTIONS(GEMMSMITH_DECLARE)
#undef GEMMSMITH_DECLARE

  static Result<NvrtcLibrary> Open() {
    constexpr const char* kName = "libnvrtc.so.13";
    ASSIGN_OR_RETURN(void* const handle, OpenLibrary(kName));
    NvrtcLibrary library;
#define GEMMSMITH_RESOLVE(function)                                                     \
  library.function = reinterpret_cast<decltype(&::function)>(dlsym(handle, #function)); \
  if (library.function == nullptr) return Unavailable(fmt::format("{} has no {}", kName, #function));
    GEMMSMITH_NVRTC_FUNCTIONS(GEMMSMITH_RESOLVE)
#undef GEMMSMITH_RESOLVE
    return library;
  }
};

// Owns one nvrtcProgram.
class Program {
 public:
  explicit Program(const NvrtcLibrary& library) : library_(library) {}
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;
  ~Program() {
    if (program_ != nullptr) library_.nvrtcDestroyProgram(&program_);
  }
  nvrtcProgram get() const { return program_; }
  nvrtcProgram* address() { return &program_; }

 private:
  const NvrtcLibrary& library_;
  nvrtcProgram program_ = nullptr;
};

class NvrtcCompiler : public Compiler {
 public:
  NvrtcCompiler(NvrtcLibrary library, int major, int minor) : library_(library), major_(major), minor_(minor) {
    for (const DeviceHeader& header : DeviceHeaders()) {
      header_names_.emplace_back(header.name);
      header_texts_.emplace_back(header.text);
    }
  }

  Result<Compilation> Compile(const Source& source, std::string_view architecture) override {
    RETURN_IF_ERROR(CheckArchitecture(architecture));
    const auto start = std::chrono::steady_clock::now();
    Program program(library_);
    RETURN_IF_ERROR(Create(source, program));
    const std::string architecture_option = fmt::format("--gpu-architecture={}", architecture);
    std::vector<const char*> options(kFlags.begin(), kFlags.end());
    options.push_back(architecture_option.c_str());
    const nvrtcResult compiled = library_.nvrtcCompileProgram(program.get(), int(options.size()), options.data());

    Compilation compilation;
    ASSIGN_OR_RETURN(compilation.log, Log(program));
    if (compiled == NVRTC_SUCCESS) {
      RETURN_IF_ERROR(FetchBinary(program, source.entry, compilation));
    } else if (compiled == NVRTC_ERROR_INVALID_OPTION) {
      return InvalidArgument(fmt::format("{} cannot compile for {}", Version(), architecture));
    } else if (compiled != NVRTC_ERROR_COMPILATION) {
      return Failure(compiled, "nvrtcCompileProgram");
    }
    compilation.seconds = SecondsSince(start);
    return compilation;
  }

  std::string Identity() const override {
    std::string identity = Version();
    for (const char* flag : kFlags) identity += fmt::format(" {}", flag);
    return identity;
  }

 private:
  // -default-device: the headers' constexpr functions, which nvcc wants unannotated to evaluate at compile time.
  static constexpr std::array kFlags = {"--std=c++17", "-DNDEBUG", "-default-device"};

  std::string Version() const { return fmt::format("nvrtc {}.{}", major_, minor_); }

  Status Failure(nvrtcResult result, const char* call) const {
    return Unavailable(fmt::format("{}: {} failed: {}", Version(), call, library_.nvrtcGetErrorString(result)));
  }

  Status Create(const Source& source, Program& program) const {
    std::vector<const char*> names, texts;
    for (const std::string& name : header_names_) names.push_back(name.c_str());
    for (const std::string& text : header_texts_) texts.push_back(text.c_str());
    const nvrtcResult created = library_.nvrtcCreateProgram(program.address(), source.text.c_str(), "kernel.cu",
                                                            int(names.size()), texts.data(), names.data());
    return created == NVRTC_SUCCESS ? OkStatus() : Failure(created, "nvrtcCreateProgram");
  }

  Result<std::string> Log(const Program& program) const {
    size_t size = 0;  // with the terminating zero
    nvrtcResult got = library_.nvrtcGetProgramLogSize(program.get(), &size);
    std::string log(size, '\0');
    if (got == NVRTC_SUCCESS && size > 0) got = library_.nvrtcGetProgramLog(program.get(), log.data());
    if (got != NVRTC_SUCCESS) return Failure(got, "nvrtcGetProgramLog");
    if (!log.empty()) log.pop_back();
    return log;
  }

  Status FetchBinary(const Program& program, const std::string& entry, Compilation& compilation) const {
    size_t size = 0;
    nvrtcResult got = library_.nvrtcGetCUBINSize(program.get(), &size);
    std::vector<uint8_t> cubin(size);
    if (got == NVRTC_SUCCESS && size > 0)
      got = library_.nvrtcGetCUBIN(program.get(), reinterpret_cast<char*>(cubin.data()));
    if (got != NVRTC_SUCCESS) return Failure(got, "nvrtcGetCUBIN");
    return FinishCompilation(std::move(cubin), entry, compilation);
  }

  const NvrtcLibrary library_;
  const int major_, minor_;
  std::vector<std::string> header_names_, header_texts_;  // with the terminating zeros that NVRTC wants
};

}  // namespace

Result<std::unique_ptr<Compiler>> MakeNvrtcCompiler() {
  ASSIGN_OR_RETURN(const NvrtcLibrary library, NvrtcLibrary::Open());
  int major = 0, minor = 0;
  if (library.nvrtcVersion(&major, &minor) != NVRTC_SUCCESS) return Unavailable("libnvrtc.so.13 tells no version");
  return std::unique_ptr<Compiler>(std::make_unique<NvrtcCompiler>(library, major, minor));
}

}  // namespace gemmsmith
