// The ring of stages in shared memory between producer and consumers. A full and an empty barrier a stage; their phases
// alternate in parity from lap to lap.
#pragma once

#include "types.cuh"

namespace gemmsmith {

// Stage and parity of one step. kStages 0: as many stages as steps, none of which is refilled.
template <int kStages>
struct RingPosition {
  int stage = 0;
  u32 parity = 0;

  RingPosition() = default;
  // Steps count on from tile to tile.
  GEMMSMITH_DEVICE explicit RingPosition(int step) : stage(step % kStages), parity(u32(step / kStages) & 1) {}
  GEMMSMITH_DEVICE void Next() {
    ++stage;
    if (kStages > 0 && stage == kStages) stage = 0, parity ^= 1;
  }
  GEMMSMITH_DEVICE int StageBefore() const { return stage == 0 ? kStages - 1 : stage - 1; }
};

}  // namespace gemmsmith
