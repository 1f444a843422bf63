// A pretended libcublasLt.so.13: column-major products on the CPU, as the library's documentation defines them.
#include <cublasLt.h>

#include <atomic>
#include <cmath>
#include <cstring>

#include "fake/driver.h"
#include "fake/numbers.h"

namespace {

struct Description {
  cublasOperation_t first = CUBLAS_OP_N, second = CUBLAS_OP_N;
  cublasLtEpilogue_t epilogue = CUBLASLT_EPILOGUE_DEFAULT;
  cudaDataType bias_type = CUDA_R_16F;
  const void* bias = nullptr;
  const void* a_scale = nullptr;
  cublasComputeType_t compute = CUBLAS_COMPUTE_32F;
  cudaDataType scale_type = CUDA_R_32F;
};
struct Layout {
  cudaDataType type = CUDA_R_16F;
  uint64_t rows = 0, columns = 0;
  int64_t leading = 0;
  int32_t count = 1;
  int64_t step = 0;
  int32_t order = CUBLASLT_ORDER_COL;
};
std::atomic<int64_t> calls = 0;
static_assert(sizeof(Description) <= sizeof(cublasLtMatmulDescOpaque_t) &&
              sizeof(Layout) <= sizeof(cublasLtMatrixLayoutOpaque_t));

Description& Of(cublasLtMatmulDesc_t description) { return *reinterpret_cast<Description*>(description); }
Layout& Of(cublasLtMatrixLayout_t layout) { return *reinterpret_cast<Layout*>(layout); }

int TypeOf(cudaDataType type) { return type == CUDA_R_32F ? kFakeF32 : type == CUDA_R_16BF ? kFakeBf16 : kFakeF16; }
int64_t BytesOf(cudaDataType type) { return type == CUDA_R_32F ? 4 : 2; }
const void* OfBatch(const void* data, const Layout& layout, int64_t i) {
  return static_cast<const char*>(data) + i * layout.step * BytesOf(layout.type);
}

float Activated(cublasLtEpilogue_t epilogue, float x) {
  if (epilogue == CUBLASLT_EPILOGUE_RELU || epilogue == CUBLASLT_EPILOGUE_RELU_BIAS) return x > 0 ? x : 0;
  if (epilogue == CUBLASLT_EPILOGUE_GELU || epilogue == CUBLASLT_EPILOGUE_GELU_BIAS)
    return 0.5f * x * (1 + std::tanh(0.7978845608f * (x + 0.044715f * x * x * x)));
  return x;
}
bool HasBias(cublasLtEpilogue_t epilogue) {
  return epilogue == CUBLASLT_EPILOGUE_BIAS || epilogue == CUBLASLT_EPILOGUE_RELU_BIAS ||
         epilogue == CUBLASLT_EPILOGUE_GELU_BIAS;
}

struct Call {
  Description how;
  Layout first, second, addend, result;
  float scale, keep;
  int64_t depth;
  const void *a, *b, *c;
  void* d;
};

void Multiply(const Call& call) {
  const auto& [how, first, second, addend, result, scale, keep, depth, a, b, c, d] = call;
  for (int64_t batch = 0; batch < result.count; ++batch) {
    const void *x = OfBatch(a, first, batch), *y = OfBatch(b, second, batch), *z = OfBatch(c, addend, batch);
    void* const to = const_cast<void*>(OfBatch(d, result, batch));
    for (int64_t i = 0; i < int64_t(result.rows); ++i)
      for (int64_t j = 0; j < int64_t(result.columns); ++j) {
        float sum = 0;
        for (int64_t k = 0; k < depth; ++k)
          sum += FakeRead(x, TypeOf(first.type),
                          how.first == CUBLAS_OP_N ? k * first.leading + i : i * first.leading + k) *
                 FakeRead(y, TypeOf(second.type),
                          how.second == CUBLAS_OP_N ? j * second.leading + k : k * second.leading + j);
        sum *= scale;
        if (keep != 0) sum += keep * FakeRead(z, TypeOf(addend.type), j * addend.leading + i);
        if (HasBias(how.epilogue)) sum += FakeRead(how.bias, TypeOf(how.bias_type), i);
        FakeWrite(to, TypeOf(result.type), j * result.leading + i, Activated(how.epilogue, sum));
      }
  }
}

}  // namespace

extern "C" {

int64_t FakeCublasLtCalls() { return calls; }

cublasStatus_t cublasLtCreate(cublasLtHandle_t* handle) {
  return *handle = reinterpret_cast<cublasLtHandle_t>(0x2000), CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtDestroy(cublasLtHandle_t) { return CUBLAS_STATUS_SUCCESS; }
const char* cublasLtGetStatusName(cublasStatus_t) { return "FAKE_STATUS"; }

cublasStatus_t cublasLtMatmulDescInit_internal(cublasLtMatmulDesc_t description, size_t size,
                                               cublasComputeType_t compute, cudaDataType scale_type) {
  if (size < sizeof(Description)) return CUBLAS_STATUS_INVALID_VALUE;
  new (description) Description;
  Of(description).compute = compute, Of(description).scale_type = scale_type;
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatmulDescSetAttribute(cublasLtMatmulDesc_t description,
                                              cublasLtMatmulDescAttributes_t attribute, const void* value,
                                              size_t size) {
  const auto set = [&](auto& field) {
    if (size != sizeof field) return CUBLAS_STATUS_INVALID_VALUE;
    return std::memcpy(&field, value, size), CUBLAS_STATUS_SUCCESS;
  };
  switch (attribute) {
    case CUBLASLT_MATMUL_DESC_TRANSA:
      return set(Of(description).first);
    case CUBLASLT_MATMUL_DESC_TRANSB:
      return set(Of(description).second);
    case CUBLASLT_MATMUL_DESC_EPILOGUE:
      return set(Of(description).epilogue);
    case CUBLASLT_MATMUL_DESC_BIAS_DATA_TYPE:
      return set(Of(description).bias_type);
    case CUBLASLT_MATMUL_DESC_BIAS_POINTER:
      return set(Of(description).bias);
    case CUBLASLT_MATMUL_DESC_A_SCALE_POINTER:
      return set(Of(description).a_scale);
    default:
      return CUBLAS_STATUS_INVALID_VALUE;
  }
}
cublasStatus_t cublasLtMatmulDescGetAttribute(cublasLtMatmulDesc_t description,
                                              cublasLtMatmulDescAttributes_t attribute, void* value, size_t size,
                                              size_t* written) {
  const auto get = [&](const auto& field) {
    if (size != sizeof field) return CUBLAS_STATUS_INVALID_VALUE;
    return std::memcpy(value, &field, size), *written = size, CUBLAS_STATUS_SUCCESS;
  };
  const int32_t host_pointers = CUBLASLT_POINTER_MODE_HOST;
  switch (attribute) {
    case CUBLASLT_MATMUL_DESC_TRANSA:
      return get(Of(description).first);
    case CUBLASLT_MATMUL_DESC_TRANSB:
      return get(Of(description).second);
    case CUBLASLT_MATMUL_DESC_EPILOGUE:
      return get(Of(description).epilogue);
    case CUBLASLT_MATMUL_DESC_A_SCALE_POINTER:
      return get(Of(description).a_scale);
    case CUBLASLT_MATMUL_DESC_COMPUTE_TYPE:
      return get(Of(description).compute);
    case CUBLASLT_MATMUL_DESC_SCALE_TYPE:
      return get(Of(description).scale_type);
    case CUBLASLT_MATMUL_DESC_POINTER_MODE:
      return get(host_pointers);
    default:
      return CUBLAS_STATUS_INVALID_VALUE;
  }
}
cublasStatus_t cublasLtMatrixLayoutGetAttribute(cublasLtMatrixLayout_t layout,
                                                cublasLtMatrixLayoutAttribute_t attribute, void* value, size_t size,
                                                size_t* written) {
  const auto get = [&](const auto& field) {
    if (size != sizeof field) return CUBLAS_STATUS_INVALID_VALUE;
    return std::memcpy(value, &field, size), *written = size, CUBLAS_STATUS_SUCCESS;
  };
  switch (attribute) {
    case CUBLASLT_MATRIX_LAYOUT_TYPE:
      return get(Of(layout).type);
    case CUBLASLT_MATRIX_LAYOUT_ORDER:
      return get(Of(layout).order);
    case CUBLASLT_MATRIX_LAYOUT_ROWS:
      return get(Of(layout).rows);
    case CUBLASLT_MATRIX_LAYOUT_COLS:
      return get(Of(layout).columns);
    case CUBLASLT_MATRIX_LAYOUT_LD:
      return get(Of(layout).leading);
    case CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT:
      return get(Of(layout).count);
    case CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET:
      return get(Of(layout).step);
    default:
      return CUBLAS_STATUS_INVALID_VALUE;
  }
}
cublasStatus_t cublasLtMatrixLayoutCreate(cublasLtMatrixLayout_t* layout, cudaDataType type, uint64_t rows,
                                          uint64_t columns, int64_t leading) {
  if (leading < int64_t(rows)) return CUBLAS_STATUS_INVALID_VALUE;
  *layout = reinterpret_cast<cublasLtMatrixLayout_t>(new Layout{type, rows, columns, leading});
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatrixLayoutDestroy(cublasLtMatrixLayout_t layout) {
  return delete &Of(layout), CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatrixLayoutSetAttribute(cublasLtMatrixLayout_t layout,
                                                cublasLtMatrixLayoutAttribute_t attribute, const void* value,
                                                size_t size) {
  if (attribute == CUBLASLT_MATRIX_LAYOUT_ORDER)
    return std::memcpy(&Of(layout).order, value, size), CUBLAS_STATUS_SUCCESS;
  if (attribute == CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT)
    return std::memcpy(&Of(layout).count, value, size), CUBLAS_STATUS_SUCCESS;
  return std::memcpy(&Of(layout).step, value, size), CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatmulPreferenceCreate(cublasLtMatmulPreference_t* preference) {
  return *preference = reinterpret_cast<cublasLtMatmulPreference_t>(0x3000), CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatmulPreferenceDestroy(cublasLtMatmulPreference_t) { return CUBLAS_STATUS_SUCCESS; }
cublasStatus_t cublasLtMatmulPreferenceSetAttribute(cublasLtMatmulPreference_t, cublasLtMatmulPreferenceAttributes_t,
                                                    const void*, size_t) {
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatmulAlgoGetHeuristic(cublasLtHandle_t, cublasLtMatmulDesc_t, cublasLtMatrixLayout_t,
                                              cublasLtMatrixLayout_t, cublasLtMatrixLayout_t, cublasLtMatrixLayout_t,
                                              cublasLtMatmulPreference_t, int, cublasLtMatmulHeuristicResult_t* found,
                                              int* count) {
  found->state = CUBLAS_STATUS_SUCCESS;
  return *count = 1, CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatmul(cublasLtHandle_t, cublasLtMatmulDesc_t description, const void* alpha, const void* a,
                              cublasLtMatrixLayout_t a_layout, const void* b, cublasLtMatrixLayout_t b_layout,
                              const void* beta, const void* c, cublasLtMatrixLayout_t c_layout, void* d,
                              cublasLtMatrixLayout_t d_layout, const cublasLtMatmulAlgo_t*, void*, size_t,
                              cudaStream_t stream) {
  ++calls;
  Call call{Of(description), Of(a_layout), Of(b_layout), Of(c_layout), Of(d_layout)};
  call.scale = *static_cast<const float*>(alpha), call.keep = *static_cast<const float*>(beta);
  call.a = a, call.b = b, call.c = c, call.d = d;
  call.depth = int64_t(call.how.first == CUBLAS_OP_N ? call.first.columns : call.first.rows);
  const uint64_t depth = call.how.second == CUBLAS_OP_N ? call.second.rows : call.second.columns;
  if (uint64_t(call.depth) != depth) return CUBLAS_STATUS_INVALID_VALUE;
  FakeSubmit(stream, [call] { Multiply(call); });
  return CUBLAS_STATUS_SUCCESS;
}

}  // extern "C"
