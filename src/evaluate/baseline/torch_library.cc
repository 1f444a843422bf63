#include "evaluate/baseline/torch_library.h"

#include <dlfcn.h>

#include <cstdlib>
#include <filesystem>
#include <memory>

#include "base/installation.h"
#include "base/text.h"
#include "evaluate/baseline/torch/gemmsmith_torch.h"

namespace gemmsmith {

namespace fs = std::filesystem;

namespace {

constexpr std::string_view kFile = "libgemmsmith_torch.so";

// A library that was built against a torch which stands elsewhere here: what is open already is found by its name.
void OpenTorchNamedByUser() {
  if (const char* const folder = std::getenv("GEMMSMITH_TORCH"); folder != nullptr && *folder != '\0')
    dlopen((fs::path(folder) / "lib" / "libtorch.so").c_str(), RTLD_NOW | RTLD_LOCAL);
}

// Without a look into the scope of this program: torch brings the CUDA runtime and libraries of its own.
Result<void*> OpenLibraryOfOurs() {
  const std::vector<std::string> paths = TorchBaselinePaths();
  std::error_code error;
  for (const std::string& path : paths) {
    if (!fs::is_regular_file(path, error)) continue;
    OpenTorchNamedByUser();
    if (void* const handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL)) return handle;
    return Unavailable(
        fmt::format("{} does not load: {}; build it again with tools/torch_baseline", path, LoaderError()));
  }
  return Unavailable(
      fmt::format("torch.matmul was not built here (looked for {}); run tools/torch_baseline", Join(paths, ", ")));
}

}  // namespace

struct TorchLibrary::Functions {
  decltype(&::gemmsmith_torch_abi) abi = nullptr;
  decltype(&::gemmsmith_torch_version) version = nullptr;
  decltype(&::gemmsmith_torch_open) open = nullptr;
  decltype(&::gemmsmith_torch_bind) bind = nullptr;
  decltype(&::gemmsmith_torch_call) call = nullptr;
  decltype(&::gemmsmith_torch_close) close = nullptr;
  decltype(&::gemmsmith_torch_error) error = nullptr;

  static Result<Functions> Load() {
    ASSIGN_OR_RETURN(void* const handle, OpenLibraryOfOurs());
    Functions functions;
    const auto resolve = [handle](auto& function, const char* name) {
      function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(dlsym(handle, name));
      return function != nullptr;
    };
    const bool is_whole =
        resolve(functions.abi, "gemmsmith_torch_abi") && resolve(functions.version, "gemmsmith_torch_version") &&
        resolve(functions.open, "gemmsmith_torch_open") && resolve(functions.bind, "gemmsmith_torch_bind") &&
        resolve(functions.call, "gemmsmith_torch_call") && resolve(functions.close, "gemmsmith_torch_close") &&
        resolve(functions.error, "gemmsmith_torch_error");
    if (!is_whole || functions.abi() != GEMMSMITH_TORCH_ABI)
      return Unavailable(fmt::format("{} is of another version; build it again with tools/torch_baseline", kFile));
    return functions;
  }
};

std::vector<std::string> TorchBaselinePaths() {
  std::vector<std::string> paths;
  if (const char* const path = std::getenv("GEMMSMITH_TORCH_BASELINE"); path != nullptr && *path != '\0')
    paths.emplace_back(path);
  std::error_code error;
  const fs::path folder = fs::read_symlink("/proc/self/exe", error).parent_path();
  if (error) return paths;
  paths.push_back((folder / kFile).string());
  paths.push_back((folder.parent_path() / "lib" / kFile).string());
  return paths;
}

Status TorchLibrary::Open() {
  if (opened_) return *opened_;
  static const Result<Functions> functions = Functions::Load();
  if (!functions.ok()) return *(opened_ = functions.status());
  functions_ = &*functions;
  if (functions_->open(device_, stream_) != 0)
    return *(opened_ = Unavailable(fmt::format("torch does not start: {}", functions_->error())));
  return *(opened_ = OkStatus());
}

Result<PutCall> TorchLibrary::Bind(const Gemm& gemm, const CallAddresses& addresses) {
  if (gemm.kind.accumulation != Accumulation::kF32)
    return Unavailable("torch.matmul accumulates in f32 unless it is told otherwise");
  RETURN_IF_ERROR(Open());
  const GemmsmithTorchGemm request{addresses.a,
                                   addresses.b,
                                   addresses.c,
                                   gemm.shape.m,
                                   gemm.shape.n,
                                   gemm.shape.k,
                                   gemm.LeadingA(),
                                   gemm.LeadingB(),
                                   gemm.LeadingC(),
                                   gemm.kind.layout.a == Order::kRow,
                                   gemm.kind.layout.b == Order::kRow,
                                   gemm.kind.type == ScalarType::kBf16};
  const Functions& torch = *functions_;
  const std::shared_ptr<void> bound(torch.bind(&request), [close = torch.close](void* pointer) {
    if (pointer != nullptr) close(pointer);
  });
  if (bound == nullptr) return Unavailable(fmt::format("torch: {}", torch.error()));
  return PutCall([bound, &torch]() -> Status {
    return torch.call(bound.get()) == 0 ? OkStatus() : IoError(fmt::format("torch.matmul: {}", torch.error()));
  });
}

std::string TorchLibrary::Version() const { return functions_ == nullptr ? "" : functions_->version(); }

}  // namespace gemmsmith
