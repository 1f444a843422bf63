// The matrices of the ring, which holds operands for every call of a batch, and the draw of its inputs. harness.cu
// includes this, and a test on the CPU. ring_kernels.h declares the same structs as this and its neighbours.

// One matrix of every set; neighbours lie `step` elements apart.
struct RingOperand {
  Matrix matrix;
  i64 step;
  u64 key;  // of its values
  RingChecksumKey checksum_key;
  u64* drawn;  // the checksum of each set, as it was drawn
  u64* found;  // and as the check found it
};

constexpr int kRingTile = 64, kRingThreads = 256, kRingTurns = kRingTile * kRingTile / 2 / kRingThreads;

struct RingMatrix {
  u16* data;
  int rows, columns;
  u32 pairs;  // in a row
  i64 stride;
  u64 key;
  int type;
  bool lines_are_rows;

  __device__ RingMatrix(const RingOperand& operand, i64 set) {
    const Matrix& matrix = operand.matrix;
    lines_are_rows = matrix.lines_are_rows != 0;
    data = static_cast<u16*>(matrix.data) + set * operand.step;
    rows = int(lines_are_rows ? matrix.lines : matrix.line_length);
    columns = int(lines_are_rows ? matrix.line_length : matrix.lines);
    pairs = u32(columns + 1) / 2;
    stride = matrix.stride;
    key = RingKeyOf(operand.key, set);
    type = matrix.type;
  }
  __device__ i64 OffsetOf(int row, int column) const {
    return lines_are_rows ? row * stride + column : column * stride + row;
  }
  __device__ bool Has(int row, int column) const { return row < rows && column < columns; }
  // The values of this column, which is even, and the next.
  __device__ NormalPair ValuesAt(int row, int column) const {
    return NormalsAt(key, u32(row) * pairs + u32(column) / 2);
  }
};

// The thread's pairs of neighbours in a row of a tile, one a turn: lanes follow the lines of the matrix.
struct RingPlace {
  int row, column;
  i64 offset;  // of its first element
  i64 next;    // from there to the second

  __device__ RingPlace(const RingMatrix& matrix, int first_row, int first_column, int turn) {
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const int down = matrix.lines_are_rows ? 8 * turn : 32 * (turn % 2);
    const int right = matrix.lines_are_rows ? 0 : 16 * (turn / 2);
    const int row_of_first = first_row + (matrix.lines_are_rows ? warp : lane);
    const int column_of_first = first_column + 2 * (matrix.lines_are_rows ? lane : warp);
    row = row_of_first + down;
    column = column_of_first + right;
    offset = matrix.OffsetOf(row_of_first, column_of_first) +
             (matrix.lines_are_rows ? down * matrix.stride : right * matrix.stride + down);
    next = matrix.lines_are_rows ? 1 : matrix.stride;
  }
};

__device__ void DrawRing(const RingOperand& operand, i64 set) {
  const RingMatrix matrix(operand, set);
  const u32 tiles_across = u32((matrix.columns + kRingTile - 1) / kRingTile);
  const u32 tiles = u32((matrix.rows + kRingTile - 1) / kRingTile) * tiles_across;
  for (u32 tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
    const int first_row = int(tile / tiles_across) * kRingTile, first_column = int(tile % tiles_across) * kRingTile;
#pragma unroll
    for (int turn = 0; turn < kRingTurns; ++turn) {
      const RingPlace place(matrix, first_row, first_column, turn);
      if (!matrix.Has(place.row, place.column)) continue;
      const NormalPair values = matrix.ValuesAt(place.row, place.column);
      matrix.data[place.offset] = Narrow(values.even, matrix.type);
      if (matrix.Has(place.row, place.column + 1))
        matrix.data[place.offset + place.next] = Narrow(values.odd, matrix.type);
    }
  }
}

extern "C" __global__ void __launch_bounds__(kRingThreads) harness_ring_draw(const RingOperand operand) {
  DrawRing(operand, blockIdx.y);
}
