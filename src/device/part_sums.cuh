// Sums of a part of a tile's K on their way from one CTA to another one, through L2 and the ring of the one that takes
// them (persistent kernels, rest.cuh). Left as it was found: zeroed.
#pragma once

#include "rest.cuh"
#include "tma.cuh"

namespace gemmsmith {

// Memory: a word for each slot that counts the warps of who gives, then the slots. A slot has quads of sums, thread by
// thread, and comes in chunks of as many quads as a stage holds. kThreads: of the consumers, who are the first of the CTA.
template <int kThreads, int kRowBlocks, int kSums, int kStageBytes>
struct PartSums {
  static constexpr int kQuads = kRowBlocks * kSums / 4, kQuadBytes = kThreads * 16;
  static constexpr int kQuadsOfChunk = Min(kQuads, kStageBytes / kQuadBytes);
  static constexpr int kChunks = CeilDivide(kQuads, kQuadsOfChunk);
  static constexpr u64 kSlotBytes = u64(kQuads) * kQuadBytes;
  static_assert(kSums % 4 == 0 && kQuadsOfChunk > 0, "a stage holds quads of all threads");
  using Sums = float[kRowBlocks][kSums];

  static GEMMSMITH_DEVICE u32* Word(char* memory, int slot) { return reinterpret_cast<u32*>(memory) + slot; }
  static GEMMSMITH_DEVICE char* Slot(char* memory, int slot) { return memory + kGiverWordsBytes + slot * kSlotBytes; }
  // This thread's.
  static GEMMSMITH_DEVICE float* FirstQuad(char* memory, int slot) {
    return reinterpret_cast<float*>(Slot(memory, slot)) + threadIdx.x * 4;
  }

  // By all consumers.
  static GEMMSMITH_DEVICE void Give(char* memory, int slot, const Sums& sums) {
    float* to = FirstQuad(memory, slot);
#pragma unroll
    for (int quad = 0; quad < kQuads; ++quad) {
      const float* from = sums[quad * 4 / kSums] + quad * 4 % kSums;
      StoreToL2(to + quad * kQuadBytes / 4, {from[0], from[1], from[2], from[3]});
    }
    PublishGlobalToCopies();
    __syncwarp();
    if (threadIdx.x % 32 == 0) CountArrival(Word(memory, slot));
  }

  // By the one thread that orders the copies.
  static GEMMSMITH_DEVICE void AwaitSums(char* memory, int slot) {
    u32* word = Word(memory, slot);
    while (LoadAcquiring(word) != kThreads / 32) Pause();
    *word = 0;
    PublishGlobalToCopies();
  }
  static GEMMSMITH_DEVICE void Bring(char* memory, int slot, int chunk, u32 stage, u32 full) {
    const int first = chunk * kQuadsOfChunk;
    const int bytes = Min(kQuadsOfChunk, kQuads - first) * kQuadBytes;
    ArriveExpecting(full, bytes);
    CopyLine(stage, Slot(memory, slot) + first * kQuadBytes, bytes, full);
  }

  // By all consumers, of a chunk that is there; `from`: this thread's first quad.
  static GEMMSMITH_DEVICE void Take(float* from, int chunk, u32 stage, Sums& sums) {
#pragma unroll
    for (int i = 0; i < kQuadsOfChunk; ++i) {
      const int quad = chunk * kQuadsOfChunk + i;
      if (quad >= kQuads) continue;
      float come[4];
      LoadFromStage(come, stage + i * kQuadBytes + threadIdx.x * 16);
#pragma unroll
      for (int e = 0; e < 4; ++e) sums[quad * 4 / kSums][quad * 4 % kSums + e] += come[e];
      StoreToL2(from + quad * kQuadBytes / 4, {0, 0, 0, 0});
    }
    __syncwarp();  // one lane says for all that the stage may be refilled
  }
};

}  // namespace gemmsmith
