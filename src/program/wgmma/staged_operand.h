// The operands as device/tma.cuh stages them: panels of lines, copied in slices by the CTAs that share them.
#pragma once

#include <cstdint>

#include "problem/gemm.h"
#include "program/launch.h"
#include "program/wgmma/wgmma_plan.h"

namespace gemmsmith {

struct StagedOperand {
  TensorMap::Matrix matrix;
  bool panels_along_k;
  int panels, lines, width;            // of a stage; elements a line
  int peers;                           // CTAs that share the copies
  uint64_t inner_extent, line_extent;  // of the matrix: contiguous direction, the other
  uint64_t leading;                    // elements between lines

  bool HasWholePanels() const { return SlicesArePanels(panels, peers); }
  int LinesOfSlice() const { return SliceLines(panels, lines, peers); }
  // Panels that one TMA operation copies. Deep maps see the contiguous direction as (panel, element), which needs whole
  // panels: a partial one would continue in the next line.
  int Depth() const {
    return LinesOfSlice() == lines && inner_extent % uint64_t(width) == 0 ? SlicePanels(panels, peers) : 1;
  }
};

StagedOperand OperandA(const WgmmaPlan& plan, const Gemm& gemm);
StagedOperand OperandB(const WgmmaPlan& plan, const Gemm& gemm);

}  // namespace gemmsmith
