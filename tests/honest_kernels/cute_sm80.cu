// style: CuTe tensors and a TiledMMA of mma.sync atoms
// shape: 256x256x512
// layout: tn
// needs: cutlass
//
// Fragments straight from global memory; only for multiples of 64 x 64 x 32.
#include <cuda_fp16.h>

#include <cute/atom/mma_atom.hpp>
#include <cute/tensor.hpp>

extern "C" const char gemmsmith_descriptor_v1[] = "gemm tn f16 f32";

using namespace cute;

__global__ void TiledProduct(const half_t* a, const half_t* b, half_t* c, int m, int n, int k) {
  const Tensor all_a = make_tensor(make_gmem_ptr(a), make_shape(m, k), make_stride(k, _1{}));
  const Tensor all_b = make_tensor(make_gmem_ptr(b), make_shape(n, k), make_stride(k, _1{}));
  const Tensor all_c = make_tensor(make_gmem_ptr(c), make_shape(m, n), make_stride(n, _1{}));
  const auto tiler = Shape<_64, _64, _32>{};
  const auto place = make_coord(int(blockIdx.y), int(blockIdx.x), _);
  const Tensor tiles_a = local_tile(all_a, tiler, place, Step<_1, X, _1>{});
  const Tensor tiles_b = local_tile(all_b, tiler, place, Step<X, _1, _1>{});
  const Tensor tile_c = local_tile(all_c, tiler, place, Step<_1, _1, X>{});

  const auto mma = make_tiled_mma(SM80_16x8x16_F32F16F16F32_TN{}, Layout<Shape<_2, _2, _1>>{});
  const auto thread = mma.get_slice(threadIdx.x);
  const Tensor own_a = thread.partition_A(tiles_a);
  const Tensor own_b = thread.partition_B(tiles_b);
  Tensor own_c = thread.partition_C(tile_c);
  Tensor x = thread.partition_fragment_A(tiles_a(_, _, 0));
  Tensor y = thread.partition_fragment_B(tiles_b(_, _, 0));
  Tensor sums = thread.make_fragment_C(own_c);
  clear(sums);
  for (int step = 0; step < k / 32; ++step) {
    copy(own_a(_, _, _, step), x);
    copy(own_b(_, _, _, step), y);
    cute::gemm(mma, x, y, sums);
  }
  for (int i = 0; i < size(sums); ++i) own_c(i) = half_t(sums(i));
}

extern "C" cudaError_t gemm(const void* a, const void* b, void* c, int m, int n, int k, void* workspace,
                            size_t workspace_bytes, cudaStream_t stream) {
  if (m % 64 != 0 || n % 64 != 0 || k % 32 != 0) return cudaErrorInvalidValue;
  TiledProduct<<<dim3(n / 64, m / 64), 128, 0, stream>>>((const half_t*)a, (const half_t*)b, (half_t*)c, m, n, k);
  return cudaGetLastError();
}
