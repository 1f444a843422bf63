#include "evaluate/baseline/shared_gemm.h"

#include <dlfcn.h>

#include "base/installation.h"

namespace gemmsmith {

namespace {

constexpr size_t kLongestDescriptor = 200;

std::string KindText(const GemmKind& kind) {
  return fmt::format("{} {} {}", Name(kind.layout), Name(kind.type), Name(kind.accumulation));
}

}  // namespace

Result<GemmKind> ParseDescriptor(const std::string& text) {
  constexpr std::string_view kFirst = "gemm ";
  const Status wrong = InvalidArgument(
      fmt::format("its descriptor is '{}', not like 'gemm tn f16 f32'", text.substr(0, kLongestDescriptor)));
  if (!text.starts_with(kFirst)) return wrong;
  const Result<Gemm> gemm = ParseGemm("gemm 64x64x64 " + text.substr(kFirst.size()));
  if (!gemm.ok() || *gemm != Gemm{{64, 64, 64}, gemm->kind}) return wrong;
  return gemm->kind;
}

Result<std::unique_ptr<SharedGemm>> SharedGemm::Open(const std::string& path) {
  // The loader takes a name without a slash for a library of the system.
  const std::string file = path.find('/') == std::string::npos ? "./" + path : path;
  void* const handle = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) return InvalidArgument(fmt::format("it does not load: {}", LoaderError()));
  const auto* const descriptor = static_cast<const char*>(dlsym(handle, "gemmsmith_descriptor_v1"));
  if (descriptor == nullptr) return InvalidArgument("it has no gemmsmith_descriptor_v1");
  std::unique_ptr<SharedGemm> gemm(new SharedGemm());
  ASSIGN_OR_RETURN(gemm->kind_, ParseDescriptor(descriptor));
  gemm->function_ = reinterpret_cast<Function>(dlsym(handle, "gemm"));
  if (gemm->function_ == nullptr) return InvalidArgument("it has no function 'gemm'");
  return gemm;
}

std::string SharedGemm::Refuses(const Gemm& gemm) const {
  if (kind_ != gemm.kind)
    return fmt::format("it is made for {}, the problem is {}", KindText(kind_), KindText(gemm.kind));
  if (gemm.lda != 0 || gemm.ldb != 0 || gemm.ldc != 0) return "its matrices are packed, those of the problem are not";
  return "";
}

Status SharedGemm::Call(const Shape& shape, const CallAddresses& addresses, void* workspace, size_t workspace_bytes,
                        void* stream) const {
  const int error =
      function_(addresses.a, addresses.b, addresses.c, shape.m, shape.n, shape.k, workspace, workspace_bytes, stream);
  return error == 0 ? OkStatus() : IoError(fmt::format("gemm: the CUDA runtime's error {}", error));
}

}  // namespace gemmsmith
