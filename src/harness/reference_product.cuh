// The reference product of the harness: f64 sums of f16 or bf16, tile by tile. Included by harness.cu behind its accessors.

struct ReferenceArguments {
  Matrix a, b;
  float* c;  // packed, row-major
  i64 m, n, k;
};

// A block of 2 x 4 warps makes a tile of C, in steps of kDepth along K; a warp makes 32 x 32 elements of it.
constexpr int kTileRows = 64, kTileColumns = 128, kDepth = 16, kThreads = 256;
constexpr int kFragments = 4;  // of 8 rows or columns, along each side of a warp's part
constexpr int kPieceLine = kDepth + 4;  // so that the 4 x 4 values that 16 threads of a warp read lie in different banks

// A thread's elements of a piece of A or B: kAcross rows or columns by kDepth of K. Neighbouring threads have neighbours
// in memory; what lies beyond the matrix counts as zero.
template <int kAcross>
struct Share {
  static constexpr int kCount = kAcross * kDepth / kThreads;
  u16 bits[kCount];
  int type;
  const u16* first;           // of the piece to be loaded next
  i64 step, step_of_pieces;   // in elements of the matrix
  int across, depth;          // of the first, in the piece
  int across_step, depth_step;
  int across_end;
  i64 depth_end;

  __device__ Share(const Matrix& matrix, bool depth_is_contiguous, i64 first_across, i64 all_across, i64 all_depth) {
    constexpr int kLinesAtOnce = kThreads / kDepth, kDepthsAtOnce = kThreads / kAcross;
    const int thread = threadIdx.x;
    type = matrix.type;
    across = depth_is_contiguous ? thread / kDepth : thread % kAcross;
    depth = depth_is_contiguous ? thread % kDepth : thread / kAcross;
    across_step = depth_is_contiguous ? kLinesAtOnce : 0;
    depth_step = depth_is_contiguous ? 0 : kDepthsAtOnce;
    const i64 line = depth_is_contiguous ? first_across + across : depth;
    const i64 position = depth_is_contiguous ? depth : first_across + across;
    first = static_cast<const u16*>(matrix.data) + line * matrix.stride + position;
    step = (depth_is_contiguous ? kLinesAtOnce : kDepthsAtOnce) * matrix.stride;
    step_of_pieces = depth_is_contiguous ? kDepth : kDepth * matrix.stride;
    across_end = int(min(all_across - first_across, i64(kAcross)));
    depth_end = all_depth;
  }
  __device__ void Load() {
#pragma unroll
    for (int i = 0; i < kCount; ++i) {
      const bool is_inside = across + i * across_step < across_end && depth + i * depth_step < depth_end;
      bits[i] = is_inside ? first[i * step] : 0;
    }
    first += step_of_pieces;
    depth_end -= kDepth;
  }
  __device__ void Store(double (&piece)[kAcross][kPieceLine]) const {
#pragma unroll
    for (int i = 0; i < kCount; ++i) piece[across + i * across_step][depth + i * depth_step] = Widen(bits[i], type);
  }
};

// sum += a * b for 8 x 4 and 4 x 8 values, by a whole warp in f64. Lane l brings a[l / 4][l % 4] and b[l % 4][l / 4].
// It has element [l / 4][l % 4 * 2] and the one right of it.
__device__ void MultiplyAdd(double (&sum)[2], double a, double b) {
  asm("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0, %1}, {%2}, {%3}, {%0, %1};"
      : "+d"(sum[0]), "+d"(sum[1])
      : "d"(a), "d"(b));
}

// Every product and sum in f64.
extern "C" __global__ void __launch_bounds__(kThreads, 2) harness_reference(const ReferenceArguments arguments) {
  __shared__ double a_piece[kTileRows][kPieceLine], b_piece[kTileColumns][kPieceLine];
  const i64 tiles_across = (arguments.n + kTileColumns - 1) / kTileColumns;
  const i64 tile_row = blockIdx.x / tiles_across * kTileRows, tile_column = blockIdx.x % tiles_across * kTileColumns;
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  const int warp_row = warp / 4 * 32, warp_column = warp % 4 * 32;
  const Matrix &a_matrix = arguments.a, &b_matrix = arguments.b;
  Share<kTileRows> a_share(a_matrix, a_matrix.lines_are_rows, tile_row, arguments.m, arguments.k);
  Share<kTileColumns> b_share(b_matrix, !b_matrix.lines_are_rows, tile_column, arguments.n, arguments.k);
  double sums[kFragments][kFragments][2] = {};
  a_share.Load();
  b_share.Load();
  for (i64 depth = 0; depth < arguments.k; depth += kDepth) {
    a_share.Store(a_piece);
    b_share.Store(b_piece);
    __syncthreads();
    // The next pieces come while these are multiplied.
    a_share.Load();
    b_share.Load();
#pragma unroll
    for (int d = 0; d < kDepth; d += 4) {
      double a[kFragments], b[kFragments];
#pragma unroll
      for (int i = 0; i < kFragments; ++i) {
        a[i] = a_piece[warp_row + 8 * i + lane / 4][d + lane % 4];
        b[i] = b_piece[warp_column + 8 * i + lane / 4][d + lane % 4];
      }
#pragma unroll
      for (int i = 0; i < kFragments; ++i)
#pragma unroll
        for (int j = 0; j < kFragments; ++j) MultiplyAdd(sums[i][j], a[i], b[j]);
    }
    __syncthreads();
  }
#pragma unroll
  for (int i = 0; i < kFragments; ++i)
#pragma unroll
    for (int j = 0; j < kFragments; ++j)
#pragma unroll
      for (int e = 0; e < 2; ++e) {
        const i64 row = tile_row + warp_row + 8 * i + lane / 4;
        const i64 column = tile_column + warp_column + 8 * j + lane % 4 * 2 + e;
        if (row < arguments.m && column < arguments.n)
          arguments.c[row * arguments.n + column] = float(sums[i][j][e]);
      }
}

// Every `row_step`-th row and `column_step`-th column as a packed, row-major f32 matrix.
struct GatherArguments {
  Matrix from;
  float* to;
  i64 rows, columns, row_step, column_step;
};

extern "C" __global__ void harness_gather(const GatherArguments arguments) {
  for (i64 i = First(); i < arguments.rows * arguments.columns; i += Step()) {
    const i64 row = i / arguments.columns * arguments.row_step, column = i % arguments.columns * arguments.column_step;
    arguments.to[i] = Load(arguments.from, OffsetOf(arguments.from, row, column));
  }
}
