// style: CUTLASS 3.x, collectives by the builder
// shape: 512x512x1024
// layout: tn
// needs: cutlass
//
// TMA, wgmma, warp-specialised as the builder chooses; extents of A, B and C are multiples of 8.
#include <cuda_fp16.h>

#include <cute/tensor.hpp>
#include <cutlass/cutlass.h>
#include <cutlass/epilogue/collective/collective_builder.hpp>
#include <cutlass/gemm/collective/collective_builder.hpp>
#include <cutlass/gemm/device/gemm_universal_adapter.h>
#include <cutlass/gemm/kernel/gemm_universal.hpp>

extern "C" const char gemmsmith_descriptor_v1[] = "gemm tn f16 f32";

using Element = cutlass::half_t;
using RowMajor = cutlass::layout::RowMajor;
using ColumnMajor = cutlass::layout::ColumnMajor;
using Tile = cute::Shape<cute::_128, cute::_128, cute::_64>;
using Cluster = cute::Shape<cute::_1, cute::_1, cute::_1>;

using Epilogue = cutlass::epilogue::collective::CollectiveBuilder<
    cutlass::arch::Sm90, cutlass::arch::OpClassTensorOp, Tile, Cluster, cutlass::epilogue::collective::EpilogueTileAuto,
    float, float, void, RowMajor, 8, Element, RowMajor, 8,
    cutlass::epilogue::collective::EpilogueScheduleAuto>::CollectiveOp;
using Mainloop = cutlass::gemm::collective::CollectiveBuilder<
    cutlass::arch::Sm90, cutlass::arch::OpClassTensorOp, Element, RowMajor, 8, Element, ColumnMajor, 8, float, Tile,
    Cluster, cutlass::gemm::collective::StageCountAutoCarveout<int(sizeof(typename Epilogue::SharedStorage))>,
    cutlass::gemm::collective::KernelScheduleAuto>::CollectiveOp;
using Kernel = cutlass::gemm::kernel::GemmUniversal<cute::Shape<int, int, int>, Mainloop, Epilogue>;
using Gemm = cutlass::gemm::device::GemmUniversalAdapter<Kernel>;

extern "C" cudaError_t gemm(const void* a, const void* b, void* c, int m, int n, int k, void* workspace,
                            size_t workspace_bytes, cudaStream_t stream) {
  const auto packed = [](int line) { return cute::make_stride(int64_t(line), cute::_1{}, int64_t(0)); };
  typename Gemm::Arguments arguments{cutlass::gemm::GemmUniversalMode::kGemm,
                                     {m, n, k},
                                     {(const Element*)a, packed(k), (const Element*)b, packed(k)},
                                     {{1.0f, 0.0f}, nullptr, packed(n), (Element*)c, packed(n)}};
  Gemm product;
  if (product.can_implement(arguments) != cutlass::Status::kSuccess) return cudaErrorInvalidValue;
  if (Gemm::get_workspace_size(arguments) > workspace_bytes) return cudaErrorInvalidValue;
  if (product.initialize(arguments, workspace, stream) != cutlass::Status::kSuccess) return cudaErrorUnknown;
  if (product.run(stream) != cutlass::Status::kSuccess) return cudaErrorUnknown;
  return cudaGetLastError();
}
