// style: CuTe tensors and a TiledMMA of wgmma atoms
// shape: 256x256x512
// layout: tn
// needs: cutlass
//
// Swizzled shared memory filled by plain copies; only for multiples of 64 x 64 x 64.
#include <cuda_fp16.h>

#include <cute/atom/mma_atom.hpp>
#include <cute/tensor.hpp>

extern "C" const char gemmsmith_descriptor_v1[] = "gemm tn f16 f32";

using namespace cute;

__global__ void __launch_bounds__(128) TiledProduct(const half_t* a, const half_t* b, half_t* c, int m, int n, int k) {
  const auto layout = tile_to_shape(GMMA::Layout_K_SW128_Atom<half_t>{}, Shape<_64, _64>{});
  __shared__ __align__(1024) half_t a_memory[64 * 64], b_memory[64 * 64];
  Tensor tile_a = make_tensor(make_smem_ptr(a_memory), layout);
  Tensor tile_b = make_tensor(make_smem_ptr(b_memory), layout);
  const Tensor all_c = make_tensor(make_gmem_ptr(c), make_shape(m, n), make_stride(n, _1{}));
  const Tensor tile_c = local_tile(all_c, Shape<_64, _64>{}, make_coord(int(blockIdx.y), int(blockIdx.x)));

  const auto mma = make_tiled_mma(SM90_64x64x16_F32F16F16_SS<GMMA::Major::K, GMMA::Major::K>{});
  const auto thread = mma.get_slice(threadIdx.x);
  const Tensor x = thread.make_fragment_A(thread.partition_A(tile_a));
  const Tensor y = thread.make_fragment_B(thread.partition_B(tile_b));
  Tensor own_c = thread.partition_C(tile_c);
  Tensor sums = thread.make_fragment_C(own_c);
  clear(sums);
  for (int start = 0; start < k; start += 64) {
    for (int i = threadIdx.x; i < 64 * 64; i += 128) {
      tile_a(i / 64, i % 64) = a[size_t(blockIdx.y * 64 + i / 64) * k + start + i % 64];
      tile_b(i / 64, i % 64) = b[size_t(blockIdx.x * 64 + i / 64) * k + start + i % 64];
    }
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");  // wgmma reads by way of the asynchronous proxy
    __syncthreads();
    warpgroup_fence_operand(sums);
    warpgroup_arrive();
    cute::gemm(mma, x, y, sums);
    warpgroup_commit_batch();
    warpgroup_wait<0>();
    warpgroup_fence_operand(sums);
    __syncthreads();
  }
  for (int i = 0; i < size(sums); ++i) own_c(i) = half_t(sums(i));
}

extern "C" cudaError_t gemm(const void* a, const void* b, void* c, int m, int n, int k, void* workspace,
                            size_t workspace_bytes, cudaStream_t stream) {
  if (m % 64 != 0 || n % 64 != 0 || k % 64 != 0) return cudaErrorInvalidValue;
  TiledProduct<<<dim3(n / 64, m / 64), 128, 0, stream>>>((const half_t*)a, (const half_t*)b, (half_t*)c, m, n, k);
  return cudaGetLastError();
}
