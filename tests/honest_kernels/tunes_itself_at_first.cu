// style: its first call for a shape weighs a hundred thousand ways to launch, on the host
// shape: 256x288x512
// layout: tn
//
// Containers, algorithms, a table that a global object builds when it is loaded, and some milliseconds before the first
// launch.
#include <algorithm>
#include <array>
#include <cmath>
#include <cuda_fp16.h>
#include <map>
#include <string>
#include <vector>

extern "C" const char gemmsmith_descriptor_v1[] = "gemm tn f16 f32";

template <int kAcross, int kDown>
__global__ void Product(const half* a, const half* b, half* c, int m, int n, int k, int per_thread) {
  for (int i = 0; i < per_thread; ++i) {
    const int row = (blockIdx.y * per_thread + i) * kDown + threadIdx.y, column = blockIdx.x * kAcross + threadIdx.x;
    if (row >= m || column >= n) continue;
    float sum = 0;
    for (int depth = 0; depth < k; ++depth)
      sum += __half2float(a[size_t(row) * k + depth]) * __half2float(b[size_t(column) * k + depth]);
    c[size_t(row) * n + column] = __float2half(sum);
  }
}

using Kernel = void (*)(const half*, const half*, half*, int, int, int, int);
struct Tile {
  Kernel kernel;
  int across, down;
};
struct Choice {
  Tile tile;
  int per_thread;
  double cost;
};

// What is known of each tile before anything runs.
struct Catalogue {
  Catalogue() {
    tiles["wide"] = {Product<64, 4>, 64, 4};
    tiles["square"] = {Product<16, 16>, 16, 16};
    tiles["narrow"] = {Product<8, 32>, 8, 32};
  }
  std::map<std::string, Tile> tiles;
};
static const Catalogue catalogue;

static double CostOf(const Tile& tile, int per_thread, int m, int n, int k) {
  const double across = std::ceil(double(n) / tile.across), down = std::ceil(double(m) / (tile.down * per_thread));
  const double waves = std::ceil(across * down / 132 / 8);
  return waves * per_thread * k * (1.0 / tile.across + 1.0 / tile.down);
}

static Choice BestFor(int m, int n, int k) {
  std::vector<Choice> choices;
  for (const auto& [name, tile] : catalogue.tiles)
    for (int per_thread = 1; per_thread <= 30000; ++per_thread)
      choices.push_back({tile, per_thread, CostOf(tile, per_thread, m, n, k)});
  std::sort(choices.begin(), choices.end(), [](const Choice& x, const Choice& y) { return x.cost < y.cost; });
  return choices.front();
}

extern "C" cudaError_t gemm(const void* a, const void* b, void* c, int m, int n, int k, void* workspace,
                            size_t workspace_bytes, cudaStream_t stream) {
  static std::map<std::array<int, 3>, Choice> known;
  const auto [found, is_new] = known.try_emplace({m, n, k});
  if (is_new) found->second = BestFor(m, n, k);
  const auto& [tile, per_thread, cost] = found->second;
  const int rows = tile.down * per_thread;
  const dim3 grid((n + tile.across - 1) / tile.across, (m + rows - 1) / rows);
  tile.kernel<<<grid, dim3(tile.across, tile.down), 0, stream>>>((const half*)a, (const half*)b, (half*)c, m, n, k,
                                                                 per_thread);
  return cudaGetLastError();
}
