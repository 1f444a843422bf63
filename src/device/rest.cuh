// Tiles that whole turns of a persistent kernel leave over, shared out along K.
//
// 1376 tiles are ten turns of 132 CTAs and 56 tiles more, for which an eleventh turn would leave 76 multiprocessors idle.
// So there are two layers of 56 CTAs, one for every tile, with some three sevenths of its K, the first steps or the next
// ones; and the 20 CTAs that are left have the last eighth of two or three tiles each, one after the other. Of a
// tile the CTA that has its first steps takes the sums of the others, in the order of k, and stores. It has a few steps
// more, for as long as giving takes.
//
// All CTAs of a layer are at the same k at the same time, as in a whole turn, so that neighbours ask for the same lines.
// (Equal ranges of steps, dealt out from tile to tile, balance better, but then everybody is somewhere else in K: the rest
// of 8192x2048x16384 took 1.35 times what whole turns made expect, on an H200, 2026-11-26.)
#pragma once

#include "types.cuh"

namespace gemmsmith {

// CTAs that share at most, and the words in the workspace by which they tell each other; src/program/launch.h says the same.
constexpr int kMostSharers = 144;
constexpr int kGiverWordsBytes = 1024;
static_assert(kGiverWordsBytes >= 4 * kMostSharers);

struct Rest {
  // Of a tile cut into many parts the sums come to one CTA; a CTA without a layer gives away the sums of a part each time.
  static constexpr int kMostLayers = 4, kMostParts = 6, kLeastSteps = 4;
  static constexpr int kGivingK = 256;  // as much K as is multiplied while a CTA gives

  int tiles, sharers;  // of tiles and CTAs so many
  int steps;           // of a tile
  int layers, others;  // CTAs that are in no layer
  int parts;           // of each of these; 0: they have nothing to do
  int first_steps, layer_steps;  // of the first layer, of the others

  __host__ __device__ Rest(int all_tiles, int steps_, int step_k, int sharers_)
      : tiles(all_tiles % sharers_), sharers(sharers_), steps(steps_) {
    layers = tiles == 0 ? 1 : sharers / tiles;
    others = sharers - layers * tiles;
    parts = others * kMostParts < tiles ? 0 : CeilDivide(tiles, Max(others, 1));
    // A layer takes as long as all the parts of another CTA, the first one as long as these and what they give.
    const int giving = kGivingK / step_k;
    layer_steps = parts == 0 ? (steps - giving) / layers : (steps * parts - giving) / (1 + parts * layers);
    first_steps = parts == 0 ? steps - (layers - 1) * layer_steps : layer_steps + giving;
  }
  // Whether something is left that more CTAs can do sooner.
  __host__ __device__ bool IsSharable() const {
    return sharers <= kMostSharers && tiles > 0 && layers <= kMostLayers && layers + parts > 1 &&
           layer_steps >= kLeastSteps && (parts == 0 || steps - BeginOf(layers) >= kLeastSteps);
  }
  // The first step of a layer, or of what is behind them.
  __host__ __device__ int BeginOf(int layer) const { return layer == 0 ? 0 : first_steps + (layer - 1) * layer_steps; }
  // CTAs whose sums are given, of each tile.
  __host__ __device__ int Givers() const { return layers - (parts == 0 ? 1 : 0); }
};

// A part of a tile: steps [begin, end). Who gives its sums does so in a slot, `slot`; who takes, from as many slots as
// there are givers, the first of which is this one, and which stand apart by as much as there are tiles.
struct RestPart {
  int tile, begin, end, slot;
  bool takes;

  // Of a CTA the part with this number, if it has so many.
  __host__ __device__ RestPart(const Rest& rest, int sharer, int number) {
    const int layer = sharer / Max(rest.tiles, 1);
    if (layer < rest.layers) {
      tile = number == 0 ? sharer - layer * rest.tiles : rest.tiles;
      begin = rest.BeginOf(layer), end = rest.BeginOf(layer + 1);
      takes = layer == 0;
      slot = (takes ? 0 : layer - 1) * rest.tiles + tile;
    } else {  // (no tile's, where there are no parts)
      tile = rest.parts == 0 ? rest.tiles : number * rest.others + sharer - rest.layers * rest.tiles;
      begin = rest.BeginOf(rest.layers), end = rest.steps;
      takes = false;
      slot = (rest.layers - 1) * rest.tiles + tile;
    }
  }
  __host__ __device__ bool IsThere(const Rest& rest) const { return tile < rest.tiles; }
  __host__ __device__ int count() const { return end - begin; }
};

}  // namespace gemmsmith
