#include "gpu/cublas.h"

#include <cublas_v2.h>
#include <dlfcn.h>

#include <algorithm>
#include <utility>

#include "base/installation.h"
#include "gpu/cublaslt.h"
#include "gpu/symbol.h"

namespace gemmsmith {

namespace {

// clang-format off
#define GEMMSMITH_CUBLAS_FUNCTIONS(X)                                                                                 \
  X(cublasCreate) X(cublasDestroy) X(cublasSetStream) X(cublasSetWorkspace) X(cublasGetVersion)                       \
  X(cublasGetStatusName)
// clang-format on

// Overloaded in C++, so its type is written out.
using GemmExFunction = cublasStatus_t (*)(cublasHandle_t, cublasOperation_t, cublasOperation_t, int m, int n, int k,
                                          const void* alpha, const void* a, cudaDataType, int lda, const void* b,
                                          cudaDataType, int ldb, const void* beta, void* c, cudaDataType, int ldc,
                                          cublasComputeType_t, cublasGemmAlgo_t);

struct CublasLibrary : LtFunctions {
#define GEMMSMITH_DECLARE(function) decltype(&::function) function = nullptr;
  GEMMSMITH_CUBLAS_FUNCTIONS(GEMMSMITH_DECLARE)
#undef GEMMSMITH_DECLARE
  GemmExFunction gemm_ex = nullptr;

  static Result<CublasLibrary> Open() {
    // cuBLAS needs cuBLASLt of the same folder: once that is open, the loader takes it.
    ASSIGN_OR_RETURN(const LtFunctions lt, LtFunctions::OfToolkit());
    ASSIGN_OR_RETURN(void* const cublas, OpenLibrary("libcublas.so.13"));
    CublasLibrary library{lt};
#define GEMMSMITH_RESOLVE(name)                                                                   \
  library.name = reinterpret_cast<decltype(library.name)>(dlsym(cublas, GEMMSMITH_SYMBOL(name))); \
  if (library.name == nullptr) return Unavailable(fmt::format("cuBLAS has no {}", GEMMSMITH_SYMBOL(name)));
    GEMMSMITH_CUBLAS_FUNCTIONS(GEMMSMITH_RESOLVE)
#undef GEMMSMITH_RESOLVE
    library.gemm_ex = reinterpret_cast<GemmExFunction>(dlsym(cublas, "cublasGemmEx"));
    if (library.gemm_ex == nullptr) return Unavailable("cuBLAS has no cublasGemmEx");
    return library;
  }

  // Not supported is what this machine's library lacks; everything else is a failed call.
  Status Check(cublasStatus_t status, const char* call) const {
    if (status == CUBLAS_STATUS_SUCCESS) return OkStatus();
    std::string message = fmt::format("{}: {}", call, cublasGetStatusName(status));
    return status == CUBLAS_STATUS_NOT_SUPPORTED ? Unavailable(std::move(message)) : IoError(std::move(message));
  }
};

// The types of a call and its operands.
struct LibraryCall {
  ColumnMajorProduct product;
  cudaDataType type = CUDA_R_16F;
  cublasComputeType_t compute = CUBLAS_COMPUTE_32F;
  cudaDataType scale_type = CUDA_R_32F;
  // One and zero in the scale type.
  const void* alpha = nullptr;
  const void* beta = nullptr;
};

Result<LibraryCall> CallFor(const Gemm& gemm) {
  static constexpr float kOne = 1, kZero = 0;
  static constexpr uint16_t kHalfOne = 0x3c00, kHalfZero = 0;
  LibraryCall call;
  call.product = AsColumnMajor(gemm.shape.m, gemm.shape.n, gemm.shape.k, gemm.kind.layout.a == Order::kColumn,
                               gemm.kind.layout.b == Order::kColumn);
  call.type = gemm.kind.type == ScalarType::kF16 ? CUDA_R_16F : CUDA_R_16BF;
  call.alpha = &kOne;
  call.beta = &kZero;
  if (gemm.kind.accumulation == Accumulation::kF16) {
    if (gemm.kind.type != ScalarType::kF16)
      return Unavailable("cuBLAS accumulates in f16 for f16 matrices only: " + Print(gemm));
    call.compute = CUBLAS_COMPUTE_16F;
    call.scale_type = CUDA_R_16F;
    call.alpha = &kHalfOne;
    call.beta = &kHalfZero;
  }
  return call;
}

std::string PrintVersion(size_t version) {
  return fmt::format("{}.{}.{}", version / 10000, version / 100 % 100, version % 100);
}

}  // namespace

struct Cublas::State {
  CublasLibrary library;
  cublasHandle_t handle = nullptr;
  cublasLtHandle_t lt_handle = nullptr;
  // The settings of the handle.
  bool stream_set = false;
  CUstream stream = nullptr;
  void* workspace = nullptr;
  uint64_t workspace_bytes = 0;

  ~State() {
    if (lt_handle != nullptr) library.cublasLtDestroy(lt_handle);
    if (handle != nullptr) library.cublasDestroy(handle);
  }

  Status SetStreamAndWorkspace(const GemmBuffers& buffers, CUstream wanted) {
    if (stream_set && stream == wanted && workspace == buffers.workspace && workspace_bytes == buffers.workspace_bytes)
      return OkStatus();
    stream_set = false;
    // In this order: setting the stream takes the workspace away.
    RETURN_IF_ERROR(library.Check(library.cublasSetStream(handle, wanted), "cublasSetStream"));
    if (buffers.workspace_bytes > 0)
      RETURN_IF_ERROR(library.Check(library.cublasSetWorkspace(handle, buffers.workspace, buffers.workspace_bytes),
                                    "cublasSetWorkspace"));
    stream_set = true;
    stream = wanted;
    workspace = buffers.workspace;
    workspace_bytes = buffers.workspace_bytes;
    return OkStatus();
  }
};

Cublas::Cublas(std::unique_ptr<State> state) : state_(std::move(state)) {}
Cublas::~Cublas() = default;

Result<std::unique_ptr<Cublas>> Cublas::Open() {
  ASSIGN_OR_RETURN(const CublasLibrary library, CublasLibrary::Open());
  std::unique_ptr<State> state(new State{library});
  RETURN_IF_ERROR(library.Check(library.cublasCreate(&state->handle), "cublasCreate"));
  RETURN_IF_ERROR(library.Check(library.cublasLtCreate(&state->lt_handle), "cublasLtCreate"));
  return std::unique_ptr<Cublas>(new Cublas(std::move(state)));
}

std::string Cublas::Version() const {
  int version = 0;
  state_->library.cublasGetVersion(state_->handle, &version);
  return fmt::format("cublas {}, cublaslt {}", PrintVersion(size_t(version)),
                     PrintVersion(state_->library.cublasLtGetVersion()));
}

Status Cublas::GemmEx(const Gemm& gemm, const GemmBuffers& buffers, CUstream stream) {
  ASSIGN_OR_RETURN(const LibraryCall call, CallFor(gemm));
  RETURN_IF_ERROR(state_->SetStreamAndWorkspace(buffers, stream));
  const CublasLibrary& library = state_->library;
  return library.Check(library.gemm_ex(state_->handle, call.product.first.operation, call.product.second.operation,
                                       gemm.shape.n, gemm.shape.m, gemm.shape.k, call.alpha, buffers.b, call.type,
                                       gemm.LeadingB(), buffers.a, call.type, gemm.LeadingA(), call.beta, buffers.c,
                                       call.type, gemm.LeadingC(), call.compute, CUBLAS_GEMM_DEFAULT_TENSOR_OP),
                       "cublasGemmEx");
}

struct LtGemm::State {
  const CublasLibrary& library;
  cublasLtHandle_t handle;
  LibraryCall call;
  uint64_t workspace_bytes = 0;
  cublasLtMatmulDesc_t description = nullptr;
  cublasLtMatrixLayout_t first = nullptr, second = nullptr, result = nullptr;
  std::vector<cublasLtMatmulHeuristicResult_t> candidates;

  ~State() {
    for (cublasLtMatrixLayout_t layout : {first, second, result})
      if (layout != nullptr) library.cublasLtMatrixLayoutDestroy(layout);
    if (description != nullptr) library.cublasLtMatmulDescDestroy(description);
  }

  Status Describe(const Gemm& gemm) {
    RETURN_IF_ERROR(library.Check(library.cublasLtMatmulDescCreate(&description, call.compute, call.scale_type),
                                  "cublasLtMatmulDescCreate"));
    for (const auto& [attribute, operation] : {std::pair{CUBLASLT_MATMUL_DESC_TRANSA, call.product.first.operation},
                                               std::pair{CUBLASLT_MATMUL_DESC_TRANSB, call.product.second.operation}})
      RETURN_IF_ERROR(
          library.Check(library.cublasLtMatmulDescSetAttribute(description, attribute, &operation, sizeof operation),
                        "cublasLtMatmulDescSetAttribute"));
    RETURN_IF_ERROR(MakeLayout(first, call.product.first, gemm.LeadingB()));
    RETURN_IF_ERROR(MakeLayout(second, call.product.second, gemm.LeadingA()));
    return MakeLayout(result, call.product.result, gemm.LeadingC());
  }

  // With its defaults; nullopt where these types have no such algorithm.
  std::optional<cublasLtMatmulAlgo_t> Algorithm(int id) const;

  Status MakeLayout(cublasLtMatrixLayout_t& layout, const ColumnMajorProduct::Operand& operand, int leading) {
    return library.Check(library.cublasLtMatrixLayoutCreate(&layout, call.type, operand.rows, operand.columns, leading),
                         "cublasLtMatrixLayoutCreate");
  }

  Status AskHeuristic(int max_candidates) {
    cublasLtMatmulPreference_t preference = nullptr;
    RETURN_IF_ERROR(
        library.Check(library.cublasLtMatmulPreferenceCreate(&preference), "cublasLtMatmulPreferenceCreate"));
    const size_t limit = workspace_bytes;  // 64 bits: through an int, 4 GiB would be none
    cublasStatus_t status = library.cublasLtMatmulPreferenceSetAttribute(
        preference, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, &limit, sizeof limit);
    std::vector<cublasLtMatmulHeuristicResult_t> found(static_cast<size_t>(max_candidates));
    int count = 0;
    if (status == CUBLAS_STATUS_SUCCESS)
      status = library.cublasLtMatmulAlgoGetHeuristic(handle, description, first, second, result, result, preference,
                                                      max_candidates, found.data(), &count);
    library.cublasLtMatmulPreferenceDestroy(preference);
    if (status == CUBLAS_STATUS_NOT_SUPPORTED) return OkStatus();
    RETURN_IF_ERROR(library.Check(status, "cublasLtMatmulAlgoGetHeuristic"));
    for (int i = 0; i < count; ++i)
      if (found[size_t(i)].state == CUBLAS_STATUS_SUCCESS) candidates.push_back(found[size_t(i)]);
    return OkStatus();
  }
};

LtGemm::LtGemm(std::unique_ptr<State> state) : state_(std::move(state)) {}
LtGemm::~LtGemm() = default;

Result<std::unique_ptr<LtGemm>> LtGemm::Create(Cublas& cublas, const Gemm& gemm, uint64_t workspace_bytes,
                                               int max_candidates) {
  GEMMSMITH_CHECK(max_candidates > 0, "{} candidates", max_candidates);
  ASSIGN_OR_RETURN(const LibraryCall call, CallFor(gemm));
  std::unique_ptr<State> state(new State{cublas.state_->library, cublas.state_->lt_handle, call, workspace_bytes});
  RETURN_IF_ERROR(state->Describe(gemm));
  RETURN_IF_ERROR(state->AskHeuristic(max_candidates));
  return std::unique_ptr<LtGemm>(new LtGemm(std::move(state)));
}

namespace {

std::vector<uint32_t> CapabilityList(const CublasLibrary& library, const cublasLtMatmulAlgo_t& algorithm,
                                     cublasLtMatmulAlgoCapAttributes_t attribute) {
  size_t bytes = 0;
  if (library.cublasLtMatmulAlgoCapGetAttribute(&algorithm, attribute, nullptr, 0, &bytes) != CUBLAS_STATUS_SUCCESS)
    return {};
  std::vector<uint32_t> values(bytes / sizeof(uint32_t));
  if (values.empty() || library.cublasLtMatmulAlgoCapGetAttribute(&algorithm, attribute, values.data(), bytes,
                                                                  &bytes) != CUBLAS_STATUS_SUCCESS)
    return {};
  return values;
}

// 0 where the library does not tell.
template <class T>
T Capability(const CublasLibrary& library, const cublasLtMatmulAlgo_t& algorithm,
             cublasLtMatmulAlgoCapAttributes_t attribute) {
  T value = 0;
  size_t written = 0;
  const cublasStatus_t told =
      library.cublasLtMatmulAlgoCapGetAttribute(&algorithm, attribute, &value, sizeof value, &written);
  return told == CUBLAS_STATUS_SUCCESS ? value : T{0};
}

}  // namespace

std::optional<cublasLtMatmulAlgo_t> LtGemm::State::Algorithm(int id) const {
  cublasLtMatmulAlgo_t algorithm{};
  const cublasStatus_t made = library.cublasLtMatmulAlgoInit(handle, call.compute, call.scale_type, call.type,
                                                             call.type, call.type, call.type, id, &algorithm);
  return made == CUBLAS_STATUS_SUCCESS ? std::optional(algorithm) : std::nullopt;
}

Result<std::vector<LtCapabilities>> LtGemm::Algorithms() const {
  constexpr int kMaxIds = 1024;
  const State& s = *state_;
  std::vector<int> ids(kMaxIds);
  int count = 0;
  RETURN_IF_ERROR(s.library.Check(
      s.library.cublasLtMatmulAlgoGetIds(s.handle, s.call.compute, s.call.scale_type, s.call.type, s.call.type,
                                         s.call.type, s.call.type, kMaxIds, ids.data(), &count),
      "cublasLtMatmulAlgoGetIds"));
  std::vector<LtCapabilities> algorithms;
  for (int i = 0; i < count; ++i) {
    const std::optional<cublasLtMatmulAlgo_t> algorithm = s.Algorithm(ids[size_t(i)]);
    if (!algorithm) continue;
    LtCapabilities& can = algorithms.emplace_back();
    can.id = ids[size_t(i)];
    can.tiles = CapabilityList(s.library, *algorithm, CUBLASLT_ALGO_CAP_TILE_IDS);
    can.stages = CapabilityList(s.library, *algorithm, CUBLASLT_ALGO_CAP_STAGES_IDS);
    const auto last_option = Capability<int32_t>(s.library, *algorithm, CUBLASLT_ALGO_CAP_CUSTOM_OPTION_MAX);
    can.custom_options = uint32_t(std::max(last_option, 0)) + 1;
    can.splits_k = Capability<int32_t>(s.library, *algorithm, CUBLASLT_ALGO_CAP_SPLITK_SUPPORT) != 0;
    can.reduction_schemes = Capability<uint32_t>(s.library, *algorithm, CUBLASLT_ALGO_CAP_REDUCTION_SCHEME_MASK);
    can.swizzles = Capability<uint32_t>(s.library, *algorithm, CUBLASLT_ALGO_CAP_CTA_SWIZZLING_SUPPORT) != 0;
  }
  return algorithms;
}

std::optional<int> LtGemm::Add(const LtConfig& config) {
  State& s = *state_;
  std::optional<cublasLtMatmulAlgo_t> algorithm = s.Algorithm(config.id);
  if (!algorithm) return std::nullopt;
  const auto set = [&]<class T>(cublasLtMatmulAlgoConfigAttributes_t attribute, T value) {
    // Attributes without a choice keep the library's value.
    return value == T{0} || s.library.cublasLtMatmulAlgoConfigSetAttribute(&*algorithm, attribute, &value,
                                                                           sizeof value) == CUBLAS_STATUS_SUCCESS;
  };
  const bool is_set = set(CUBLASLT_ALGO_CONFIG_TILE_ID, config.tile) &&
                      set(CUBLASLT_ALGO_CONFIG_STAGES_ID, config.stages) &&
                      (config.split_k == 1 || (set(CUBLASLT_ALGO_CONFIG_SPLITK_NUM, config.split_k) &&
                                               set(CUBLASLT_ALGO_CONFIG_REDUCTION_SCHEME, config.reduction))) &&
                      set(CUBLASLT_ALGO_CONFIG_CTA_SWIZZLING, config.swizzle) &&
                      set(CUBLASLT_ALGO_CONFIG_CUSTOM_OPTION, config.custom) &&
                      set(CUBLASLT_ALGO_CONFIG_CLUSTER_SHAPE_ID, config.cluster);
  if (!is_set) return std::nullopt;
  cublasLtMatmulHeuristicResult_t checked{};
  if (s.library.cublasLtMatmulAlgoCheck(s.handle, s.description, s.first, s.second, s.result, s.result, &*algorithm,
                                        &checked) != CUBLAS_STATUS_SUCCESS ||
      checked.workspaceSize > s.workspace_bytes)
    return std::nullopt;
  checked.algo = *algorithm;  // the check leaves it alone
  s.candidates.push_back(checked);
  return candidate_count() - 1;
}

int LtGemm::candidate_count() const { return int(state_->candidates.size()); }

std::string LtGemm::Describe(int candidate) const {
  GEMMSMITH_CHECK(candidate >= 0 && candidate < candidate_count(), "candidate {} of {}", candidate, candidate_count());
  const cublasLtMatmulAlgo_t& algorithm = state_->candidates[size_t(candidate)].algo;
  std::string words;
  const auto add = [&]<class T>(const char* name, cublasLtMatmulAlgoConfigAttributes_t attribute, T value) {
    size_t written = 0;
    state_->library.cublasLtMatmulAlgoConfigGetAttribute(&algorithm, attribute, &value, sizeof value, &written);
    words += fmt::format("{}{}{}", words.empty() ? "" : "/", name, value);
  };
  add("id", CUBLASLT_ALGO_CONFIG_ID, int32_t(0));
  add("t", CUBLASLT_ALGO_CONFIG_TILE_ID, uint32_t(0));
  add("s", CUBLASLT_ALGO_CONFIG_STAGES_ID, uint32_t(0));
  add("k", CUBLASLT_ALGO_CONFIG_SPLITK_NUM, int32_t(0));
  add("r", CUBLASLT_ALGO_CONFIG_REDUCTION_SCHEME, uint32_t(0));
  add("w", CUBLASLT_ALGO_CONFIG_CTA_SWIZZLING, uint32_t(0));
  add("c", CUBLASLT_ALGO_CONFIG_CUSTOM_OPTION, uint32_t(0));
  add("cl", CUBLASLT_ALGO_CONFIG_CLUSTER_SHAPE_ID, uint16_t(0));
  return words;
}

Status LtGemm::Run(int candidate, const GemmBuffers& buffers, CUstream stream) {
  GEMMSMITH_CHECK(candidate >= 0 && candidate < candidate_count(), "candidate {} of {}", candidate, candidate_count());
  const State& s = *state_;
  if (buffers.workspace_bytes < s.workspace_bytes)
    return InvalidArgument(fmt::format("cublasLtMatmul was tuned for a workspace of {} bytes and is given {}",
                                       s.workspace_bytes, buffers.workspace_bytes));
  return s.library.Check(
      s.library.cublasLtMatmul(s.handle, s.description, s.call.alpha, buffers.b, s.first, buffers.a, s.second,
                               s.call.beta, buffers.c, s.result, buffers.c, s.result,
                               &s.candidates[size_t(candidate)].algo, buffers.workspace, s.workspace_bytes, stream),
      "cublasLtMatmul");
}

}  // namespace gemmsmith
