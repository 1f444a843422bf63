// Facts that host and device must agree on: choices, panel widths, shared memory, registers, workspace.
// Includes nothing, so NVRTC, nvcc and the host's compiler read the same text.
#pragma once

#ifdef __CUDACC__
#define GEMMSMITH_SHARED __host__ __device__
#else
#define GEMMSMITH_SHARED
#endif

namespace gemmsmith {

GEMMSMITH_SHARED constexpr int Min(int a, int b) { return a < b ? a : b; }
GEMMSMITH_SHARED constexpr int Max(int a, int b) { return a > b ? a : b; }
GEMMSMITH_SHARED constexpr int CeilDivide(int a, int b) { return (a + b - 1) / b; }

// The last part of every GEMM kernel's parameter block.
struct GemmArguments {
  const void* a = nullptr;
  const void* b = nullptr;
  void* c = nullptr;
  void* workspace = nullptr;
  int m = 0, n = 0, k = 0;
  int lda = 0, ldb = 0, ldc = 0;
};
static_assert(sizeof(GemmArguments) == 56, "64-bit pointers, no padding");

// When a kernel lets the next launch of a chain start (programmatic dependent launch). Plans hold these numbers.
enum class Trigger {
  kNone = 0,   // never; the kernel expects the launch before it to have ended
  kEarly = 1,  // at once
  kSoon = 2,   // when the launch before has ended and the first copies are ordered
  kLate = 3,   // when the last matrix instructions are issued
  kLast = 4,   // never, but the kernel waits for the launch before it; the next one starts when all CTAs have ended
};

// How CTAs get their tiles. Plans hold these numbers.
enum class Schedule {
  kOneTile = 0,      // one tile a CTA; its warpgroups share the rows
  kCooperative = 1,  // persistent; the warpgroups share the rows of one tile after the other
  kPingPong = 2,     // persistent; two warpgroups have tiles of their own: one multiplies while the other stores
};

// How the CTAs that split K of one tile combine their sums. Plans hold these numbers; a kernel without splits has
// kNone.
enum class SplitReduction {
  kAdd = 0,       // f32 adds in L2; the last CTA converts. The order of the sums varies.
  kCluster = 2,   // the splits are a cluster and push shares into each other's shared memory. Reproducible.
  kExchange = 3,  // each CTA keeps a share and sends the others theirs through a slot in L2. Reproducible. The CTAs
                  // wait for each other, so the whole grid must be resident.
  kNone = 4,
};

// The order of tiles: along m, along n, or, from 2 on, in groups of so many clusters along m.
enum Raster { kAlongM = 0, kAlongN = 1 };

// Multiples of a cluster: tiles along one dimension of C, those outside C included.
GEMMSMITH_SHARED constexpr int TilesAlong(int extent, int tile, int cluster) {
  return CeilDivide(CeilDivide(extent, tile), cluster) * cluster;
}

// Clusters of a persistent kernel, of which the GPU holds `resident` at once. Even: no more than the waves need, so
// that each works on as many tiles as any other, or one less.
GEMMSMITH_SHARED constexpr int PersistentClusters(int tiles, int resident, bool even) {
  return tiles <= resident ? tiles : even ? CeilDivide(tiles, CeilDivide(tiles, resident)) : resident;
}

// ---- panels: boxes of TMA, as lines of shared memory ----

// The widest lines, in elements, of panels that so many columns fill.
GEMMSMITH_SHARED constexpr int PanelWidth(int columns) {
  return columns % 64 == 0 ? 64 : columns % 32 == 0 ? 32 : columns % 16 == 0 ? 16 : 8;
}

// The same for C on its way out, where panels may overlap: the last one ends with the tile, and columns of two panels
// leave twice. 64 columns, unless 32 fit or 64 would store more than a quarter twice.
GEMMSMITH_SHARED constexpr int StoredWidth(int columns) {
  if (columns < 64 || columns % 32 == 0) return PanelWidth(columns);
  return CeilDivide(columns, 64) * 64 * 4 <= columns * 5 ? 64 : 32;
}
GEMMSMITH_SHARED constexpr int StoredPanelCount(int columns) { return CeilDivide(columns, StoredWidth(columns)); }

// TMA swizzles lines of 32, 64 and 128 bytes; 0: lines of 16 bytes stay as they are.
GEMMSMITH_SHARED constexpr int SwizzleBytes(int width) { return width == 8 ? 0 : width * 2; }

// An operand's share of a stage, copied in slices by `peers` CTAs, each for all of them (multicast): whole panels where
// the peers divide them, else lines of every panel.
GEMMSMITH_SHARED constexpr bool SlicesArePanels(int panels, int peers) { return panels % peers == 0; }
GEMMSMITH_SHARED constexpr int SlicePanels(int panels, int peers) {
  return SlicesArePanels(panels, peers) ? panels / peers : panels;
}
GEMMSMITH_SHARED constexpr int SliceLines(int panels, int lines, int peers) {
  return SlicesArePanels(panels, peers) ? lines : lines / peers;
}

// Bytes that L2 fetches at once for an operand of so many bytes (docs/lab/latency.md).
inline constexpr double kLongStreamBytes = 200e6;
GEMMSMITH_SHARED constexpr int FetchBytes(bool is_streamed, double bytes) {
  return is_streamed && bytes >= kLongStreamBytes ? 128 : 256;
}

// ---- wgmma family: threads ----

// Warpgroups that share a tile.
GEMMSMITH_SHARED constexpr int Team(Schedule schedule, int warpgroups) {
  return schedule == Schedule::kPingPong ? 1 : warpgroups;
}

// A ring has a producer warp. With a warp that stores it has two; to give registers away it must be a warpgroup.
GEMMSMITH_SHARED constexpr int WgmmaThreads(int warpgroups, bool is_ring, bool has_store_warp, bool moves_registers) {
  return 128 * warpgroups + (moves_registers ? 128 : has_store_warp ? 64 : is_ring ? 32 : 0);
}

// ---- wgmma family: shared memory is barriers, then stages, then staging of the epilogue ----

inline constexpr int kHopperSmemBytes = 232448;  // a CTA's limit
inline constexpr int kBarrierBytes = 1024;
inline constexpr int kMostStages = 32;

GEMMSMITH_SHARED constexpr int StageBytes(int tile_m, int tile_n, int step_k) { return (tile_m + tile_n) * step_k * 2; }

// Rows of 16-bit elements are padded by one 16-byte piece, so that the pieces of a column fall into different banks.
GEMMSMITH_SHARED constexpr int PaddedRowBytes(int columns) { return columns * 2 + 16; }

// Sums that are C transposed leave 64 columns of C at a time, those of a warpgroup.
inline constexpr int kTransposedWidth = 64;

// C as one operation of TMA stores it: columns that its panels cover, and rows. One tile a CTA: a warp's rows;
// persistent: a warpgroup's.
GEMMSMITH_SHARED constexpr int BoxedColumns(bool swapped, int tile_n) { return swapped ? kTransposedWidth : tile_n; }
GEMMSMITH_SHARED constexpr int BoxRows(bool swapped, Schedule schedule, int tile_m) {
  return swapped ? tile_m : schedule == Schedule::kOneTile ? 16 : 64;
}

// Staging for 16 rows of the sums, a warp's.
GEMMSMITH_SHARED constexpr int StagedRowsBytes(bool swapped, bool stores_by_tma, int sum_columns) {
  if (swapped) return 16 * sum_columns * 2;
  if (!stores_by_tma) return 16 * PaddedRowBytes(sum_columns);
  return 16 * StoredPanelCount(sum_columns) * StoredWidth(sum_columns) * 2;
}

// One tile a CTA: a tile. Persistent: blocks of 64 rows, `staged_blocks` a warpgroup, or one for all of them.
GEMMSMITH_SHARED constexpr int TileStagingBytes(int sum_rows, int staged_rows_bytes) {
  return sum_rows / 16 * staged_rows_bytes;
}
GEMMSMITH_SHARED constexpr int PersistentStagingBytes(int warpgroups, int staged_blocks, bool shares_staging,
                                                      int staged_rows_bytes) {
  return (shares_staging ? 1 : warpgroups * staged_blocks) * 4 * staged_rows_bytes;
}

// Splits that are a cluster: sums that travel together, and the slots for the shares of the other splits.
GEMMSMITH_SHARED constexpr int ClusterPiece(int sums_per_thread, int split) {
  return sums_per_thread % (4 * split) == 0 ? 4 : 2;
}
GEMMSMITH_SHARED constexpr int ClusterSlotBytes(int sums_per_thread, int split, int threads) {
  const int piece = ClusterPiece(sums_per_thread, split);
  return CeilDivide(sums_per_thread / piece, split) * piece * 4 * threads;
}
GEMMSMITH_SHARED constexpr int ClusterStagingBytes(int sums_per_thread, int split, int threads) {
  return (split - 1) * ClusterSlotBytes(sums_per_thread, split, threads);
}

// Staging that no stage lends its memory. With a staggered epilogue only the last warpgroup may stage in the stages,
// which the other ones leave to it.
GEMMSMITH_SHARED constexpr int StagingBesideStages(int staging_bytes, bool is_in_stages, bool is_staggered,
                                                   int warpgroups) {
  if (!is_in_stages) return staging_bytes;
  return is_staggered ? staging_bytes / warpgroups * (warpgroups - 1) : 0;
}
GEMMSMITH_SHARED constexpr long long WgmmaSmemBytes(long long stages_bytes, int staging_beside_stages,
                                                    int staging_bytes) {
  const long long beside = stages_bytes + staging_beside_stages;
  return kBarrierBytes + (beside > staging_bytes ? beside : staging_bytes);
}

// ---- direct family ----

inline constexpr int kDirectChunkK = 32;  // k that a warp multiplies from one set of fragments

GEMMSMITH_SHARED constexpr int DirectThreads(int warps_m, int warps_n, int warps_k) {
  return 32 * warps_m * warps_n * warps_k;
}

// A partial tile for each warp that splits K. Rows are four floats longer than the tile, so that the rows of one store
// fall into different banks.
GEMMSMITH_SHARED constexpr int PartialTileRow(int tile_n) { return tile_n + 4; }
GEMMSMITH_SHARED constexpr int PartialTileFloats(int tile_m, int tile_n) { return tile_m * PartialTileRow(tile_n); }
GEMMSMITH_SHARED constexpr int DirectSmemBytes(int tile_m, int tile_n, int warps_k) {
  return warps_k == 1 ? 0 : warps_k * PartialTileFloats(tile_m, tile_n) * 4;
}

// ---- workspace of a split launch: a counter a tile, rounded up to 256 bytes, then sums or slots ----

// Tiles' worth of sums that the splits of one tile keep there.
GEMMSMITH_SHARED constexpr int SplitSlots(SplitReduction reduction, int split) {
  return reduction == SplitReduction::kAdd ? 1 : reduction == SplitReduction::kExchange ? split : 0;
}
GEMMSMITH_SHARED constexpr unsigned long long SplitCountersBytes(unsigned long long tiles) {
  return (tiles * 4 + 255) & ~255ull;
}
GEMMSMITH_SHARED constexpr unsigned long long SplitWorkspaceBytes(unsigned long long tiles,
                                                                  unsigned long long sums_of_tile) {
  return SplitCountersBytes(tiles) + tiles * sums_of_tile * 4;
}

}  // namespace gemmsmith
