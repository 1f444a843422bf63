#include "program/flat_names.h"

#include <algorithm>

#include "program/flat_form.h"

namespace gemmsmith {

namespace {

// Sorted by the first column. No name of a column is a parameter of gemm() or a loop's index.
constexpr std::string_view kNames[][kFlatVocabularies] = {
    {"A_frag", "fa", "fragmentsA"},
    {"B_frag", "fb", "fragmentsB"},
    {"Load1", "ldg1", "loadElement"},
    {"Load1UpTo", "ldg1_clip", "loadElementUpTo"},
    {"Load2", "ldg2", "loadPair"},
    {"Load2UpTo", "ldg2_clip", "loadPairUpTo"},
    {"Load4", "ldg4", "loadFour"},
    {"Load4UpTo", "ldg4_clip", "loadFourUpTo"},
    {"Load8", "ldg8", "loadEight"},
    {"Load8UpTo", "ldg8_clip", "loadEightUpTo"},
    {"LoadColumns", "load_b", "loadColumnsOfB"},
    {"LoadColumnsUpTo", "load_b_clip", "loadColumnsOfBUpTo"},
    {"LoadLine", "load_line", "loadLine"},
    {"LoadLineUpTo", "load_line_clip", "loadLineUpTo"},
    {"Mma", "mma16816", "multiplyAdd"},
    {"Pack", "pack2", "packPair"},
    {"Store1", "stg1", "storeElement"},
    {"Store2", "stg2", "storePair"},
    {"Store4", "stg4", "storeFour"},
    {"Store8", "stg8", "storeEight"},
    {"StoreRow", "store_row", "storeRow"},
    {"TILE_M", "BM", "kTileRows"},
    {"TILE_N", "BN", "kTileColumns"},
    {"Unpack", "unpack2", "unpackPair"},
    {"a_row", "pa", "rowsOfA"},
    {"all_pointers", "ptrs", "allPointers"},
    {"at", "kk", "offset"},
    {"b_column", "pb", "columnsOfB"},
    {"c_column", "cc", "columnOfC"},
    {"c_row", "cr", "rowOfC"},
    {"column", "col", "firstColumn"},
    {"columns_left", "left", "columnsLeft"},
    {"first_k", "k0", "laneK"},
    {"from", "src", "source"},
    {"group", "g", "groupOfLane"},
    {"held", "v", "heldSums"},
    {"held_column", "vc", "heldColumn"},
    {"held_row", "vr", "heldRow"},
    {"lane", "ln", "laneIndex"},
    {"offset", "off", "firstOffset"},
    {"packed", "pk", "packedPairs"},
    {"pair", "pr", "packedPair"},
    {"part", "r", "loaded"},
    {"partial", "smem", "partialTiles"},
    {"piece", "idx", "pieceIndex"},
    {"quad", "t", "laneInGroup"},
    {"round", "it", "roundIndex"},
    {"row", "r0", "firstRow"},
    {"rows", "rw", "rowsOfB"},
    {"share_k", "kn", "shareOfK"},
    {"sums", "acc", "accumulators"},
    {"to", "dst", "target"},
    {"total", "s", "totals"},
    {"total_column", "sc", "totalColumn"},
    {"total_row", "sr", "totalRow"},
    {"values", "vals", "rowOfSums"},
    {"warp", "wid", "warpIndex"},
    {"warp_k", "wk", "warpAlongK"},
    {"warp_m", "wm", "warpAlongM"},
    {"warp_n", "wn", "warpAlongN"},
    {"warp_tile", "ws", "tileOfWarp"},
};

}  // namespace

std::string_view FlatName(std::string_view plain, int vocabulary) {
  const auto found = std::lower_bound(std::begin(kNames), std::end(kNames), plain,
                                      [](const auto& names, std::string_view name) { return names[0] < name; });
  return found != std::end(kNames) && (*found)[0] == plain ? (*found)[size_t(vocabulary)] : plain;
}

}  // namespace gemmsmith
