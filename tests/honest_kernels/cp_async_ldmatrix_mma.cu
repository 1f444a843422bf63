// style: cp.async ring of three stages, ldmatrix, mma.sync
// shape: 256x256x512
// layout: tn
//
// 64 x 64 of C a CTA of four warps, each 32 x 32; 32 of K a stage. Only for multiples of these.
#include <cuda_fp16.h>

extern "C" const char gemmsmith_descriptor_v1[] = "gemm tn f16 f32";

// 16 bytes from global to shared memory, on their own way.
__device__ void CopyAsync(half* to, const half* from) {
  const unsigned address = unsigned(__cvta_generic_to_shared(to));
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(address), "l"(from) : "memory");
}
__device__ void CommitCopies() { asm volatile("cp.async.commit_group;" ::: "memory"); }
template <int kPending>
__device__ void WaitForCopies() {
  asm volatile("cp.async.wait_group %0;" ::"n"(kPending) : "memory");
}
__device__ unsigned SharedAddress(const void* at) { return unsigned(__cvta_generic_to_shared(at)); }
// Four 8 x 8 matrices; lane i names the line i % 8 of matrix i / 8.
__device__ void LoadMatrices(unsigned (&to)[4], const half* line) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
               : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
               : "r"(SharedAddress(line))
               : "memory");
}
// sums += a * b, 16 x 8 x 16.
__device__ void MultiplyAdd(float (&sums)[4], const unsigned (&a)[4], const unsigned (&b)[2]) {
  asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
               : "+f"(sums[0]), "+f"(sums[1]), "+f"(sums[2]), "+f"(sums[3])
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

constexpr int kStages = 3, kStep = 32, kLine = kStep + 8;  // lines padded against bank conflicts

__global__ void __launch_bounds__(128) Product(const half* a, const half* b, half* c, int n, int k) {
  __shared__ __align__(16) half a_stages[kStages][64][kLine], b_stages[kStages][64][kLine];
  const half* a_lines = a + size_t(blockIdx.y) * 64 * k;
  const half* b_lines = b + size_t(blockIdx.x) * 64 * k;
  const int steps = k / kStep;
  const auto fill = [&](int step) {
    if (step < steps) {
      for (int piece = threadIdx.x; piece < 64 * 4; piece += 128) {
        const int line = piece / 4, part = piece % 4 * 8;
        const size_t from = size_t(line) * k + step * kStep + part;
        CopyAsync(&a_stages[step % kStages][line][part], a_lines + from);
        CopyAsync(&b_stages[step % kStages][line][part], b_lines + from);
      }
    }
    CommitCopies();  // an empty group at the end keeps the count
  };

  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const int warp_row = warp / 2 * 32, warp_column = warp % 2 * 32;
  float sums[2][4][4] = {};
  for (int step = 0; step < kStages - 1; ++step) fill(step);
  for (int step = 0; step < steps; ++step) {
    WaitForCopies<kStages - 2>();
    __syncthreads();
    fill(step + kStages - 1);
    const auto& a_tile = a_stages[step % kStages];
    const auto& b_tile = b_stages[step % kStages];
    for (int depth = 0; depth < kStep; depth += 16) {
      unsigned x[2][4], y[2][4];
      for (int i = 0; i < 2; ++i) {
        // A: rows 0-7 and 8-15, then the same rows 8 further along k.
        LoadMatrices(x[i], &a_tile[warp_row + i * 16 + lane % 16][depth + lane / 16 * 8]);
        // B: columns 0-7 at both k halves, then columns 8-15.
        LoadMatrices(y[i], &b_tile[warp_column + i * 16 + lane / 16 * 8 + lane % 8][depth + lane / 8 % 2 * 8]);
      }
      for (int i = 0; i < 2; ++i)
        for (int j = 0; j < 4; ++j) {
          const unsigned pair[2] = {y[j / 2][j % 2 * 2], y[j / 2][j % 2 * 2 + 1]};
          MultiplyAdd(sums[i][j], x[i], pair);
        }
    }
  }
  for (int i = 0; i < 2; ++i)
    for (int j = 0; j < 4; ++j) {
      const int row = blockIdx.y * 64 + warp_row + i * 16 + lane / 4;
      half* to = c + size_t(row) * n + blockIdx.x * 64 + warp_column + j * 8 + lane % 4 * 2;
      *(half2*)to = __floats2half2_rn(sums[i][j][0], sums[i][j][1]);
      *(half2*)(to + size_t(8) * n) = __floats2half2_rn(sums[i][j][2], sums[i][j][3]);
    }
}

extern "C" cudaError_t gemm(const void* a, const void* b, void* c, int m, int n, int k, void* workspace,
                            size_t workspace_bytes, cudaStream_t stream) {
  if (m % 64 != 0 || n % 64 != 0 || k % kStep != 0) return cudaErrorInvalidValue;
  Product<<<dim3(n / 64, m / 64), 128, 0, stream>>>((const half*)a, (const half*)b, (half*)c, n, k);
  return cudaGetLastError();
}
