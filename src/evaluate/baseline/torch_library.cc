#include "evaluate/baseline/torch_library.h"

#include <memory>

#include "base/companion_library.h"
#include "evaluate/baseline/torch/gemmsmith_torch.h"

namespace gemmsmith {

namespace {

constexpr CompanionLibrary kLibrary = {.file = "libgemmsmith_torch.so",
                                       .variable = "GEMMSMITH_TORCH_BASELINE",
                                       .purpose = "torch.matmul",
                                       .tool = "tools/torch_baseline",
                                       .version_name = "gemmsmith_torch_abi",
                                       .version = GEMMSMITH_TORCH_ABI,
                                       .root_variable = "GEMMSMITH_TORCH",
                                       .root_file = "lib/libtorch.so"};

}  // namespace

struct TorchLibrary::Functions {
  decltype(&::gemmsmith_torch_version) version = nullptr;
  decltype(&::gemmsmith_torch_open) open = nullptr;
  decltype(&::gemmsmith_torch_bind) bind = nullptr;
  decltype(&::gemmsmith_torch_call) call = nullptr;
  decltype(&::gemmsmith_torch_close) close = nullptr;
  decltype(&::gemmsmith_torch_error) error = nullptr;

  static Result<Functions> Load() {
    ASSIGN_OR_RETURN(OpenCompanion library, OpenCompanion::Open(kLibrary));
    Functions functions;
    library.Find(functions.version, "gemmsmith_torch_version");
    library.Find(functions.open, "gemmsmith_torch_open");
    library.Find(functions.bind, "gemmsmith_torch_bind");
    library.Find(functions.call, "gemmsmith_torch_call");
    library.Find(functions.close, "gemmsmith_torch_close");
    library.Find(functions.error, "gemmsmith_torch_error");
    RETURN_IF_ERROR(library.FoundAll());
    return functions;
  }
};

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
